"""Large towns: with one of them "moved to" says where somebody lives, and not what is used.

Those that are names of programs or of what they do as well (Phoenix, Geneva, Reading) are left
out.
"""

from typing import Final

TOWNS: Final = tuple(
    """
Aachen Aberdeen Accra Adelaide Algiers Amman Amsterdam Ankara Antwerp Athens Atlanta Auckland
Augsburg Austin Baghdad Baltimore Bangalore Bangkok Barcelona Basel Beijing Beirut Belfast Belgrade
Bengaluru Bergen Berlin Bern Bielefeld Bilbao Birmingham Bochum Bogota Bologna Bonn Bordeaux Boston
Brasilia Bratislava Bremen Brighton Brisbane Bristol Brno Brussels Bucharest Budapest Cairo Calgary
Cambridge Canberra Cardiff Caracas Casablanca Charlotte Chennai Chicago Cologne Copenhagen Cork
Dakar Dallas Damascus Delhi Denver Detroit Dhaka Dortmund Dresden Dubai Dublin Duisburg Durban
Edinburgh Eindhoven Essen Florence Frankfurt Freiburg Fukuoka Gdansk Genoa Ghent Glasgow Gothenburg
Graz Grenoble Groningen Hamburg Hanoi Hanover Havana Helsinki Houston Hyderabad Innsbruck Istanbul
Jakarta Jerusalem Johannesburg Kampala Karachi Karlsruhe Kathmandu Khartoum Kiel Kigali Kinshasa
Kolkata Krakow Kyiv Kyoto Lagos Lahore Lausanne Leeds Leicester Leipzig Lille Lima Linz Lisbon
Liverpool Ljubljana London Luanda Lucerne Luxembourg Lviv Lyon Madrid Malaga Malmo Manchester Manila
Mannheim Marseille Melbourne Memphis Miami Milan Minneapolis Minsk Montevideo Montpellier Montreal
Moscow Mumbai Munich Nagoya Nairobi Nantes Naples Nashville Nice Nuremberg Odessa Osaka Oslo Ottawa
Oxford Palermo Paris Perth Philadelphia Pittsburgh Porto Potsdam Poznan Prague Pretoria Pune Quito
Reykjavik Riga Rome Rotterdam Salzburg Santiago Sarajevo Seattle Seoul Seville Shanghai Sheffield
Shenzhen Singapore Skopje Sofia Stockholm Strasbourg Stuttgart Sydney Taipei Tallinn Tampere Tbilisi
Tehran Tokyo Toronto Toulouse Tripoli Tunis Turin Turku Uppsala Utrecht Valencia Vancouver Venice
Verona Vienna Vilnius Warsaw Wellington Winnipeg Wroclaw Yerevan York Zagreb Zurich
""".split()
)
"""One word each, without marks above letters."""
