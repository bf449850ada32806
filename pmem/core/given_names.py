"""Given names: with one of them a text speaks of a person, wherever it is filed.

The common ones of many languages. Those that are words of programs or projects as well (Max, Will,
Mark, Grace, May, Rust, Ruby, Jasmine, Sage, Crystal, Dash) are left out.
"""

from typing import Final

GIVEN_NAMES: Final = tuple(
    """
Aaron Abdul Adam Adrian Agnes Ahmed Aisha Akira Alan Albert Aleksandr Alejandro Alessandro Alex
Alexander Alexandra Ali Alice Alicia Alina Amanda Amelia Amina Amir Amy Ana Anastasia Anders
Andre Andrea Andreas Andrew Andrzej Angela Anita Anke Anna Anne Anthony Antoine Antonio Anya
Arjun Arthur Astrid Ayesha Barbara Beatriz Ben Benjamin Bernd Birgit Bjorn Bob Boris Brian Bruno
Camila Camille Carla Carlos Carmen Caroline Catherine Cecilia Charles Charlotte Chiara Chris
Christian Christina Christine Christopher Claire Clara Claudia Cristina Daniel Daniela Danielle
David Deborah Deepak Dennis Diana Diego Dieter Dimitri Dmitri Dominik Dora Dorothy Edward Elena
Eleni Elias Elif Elisabeth Elizabeth Ella Emilia Emily Emma Enrique Erik Ernesto Esra Esther
Ethan Eva Evelyn Fatima Federico Felix Fernando Fiona Florian Francesca Francesco Francisco
Francois Frank Franziska Frieda Gabriela Gabriele George Georgios Gerhard Giovanni Giulia
Giuseppe Gloria Gustavo Hannah Hans Harold Hassan Heike Helen Helena Helga Henrik Henry Hiroshi
Hugo Ibrahim Igor Ines Ingrid Irene Irina Isabel Isabella Ivan Jack Jacob Jakob James Jan Jana
Jane Janet Jasper Javier Jean Jennifer Jens Jessica Joan Joanna Johan Johannes John Jonas
Jonathan Jorge Jose Joseph Joshua Juan Juergen Julia Julian Julie Jutta Karen Karin Karl
Katarina Kate Katharina Katherine Kathleen Katja Keiko Kenji Kevin Klaus Krzysztof Kumar Lars
Laura Lea Leila Lena Leonard Leonardo Leonie Linda Lisa Liu Lorenzo Louise Luca Lucas Lucia
Luigi Luis Luisa Lukas Magdalena Malik Manuel Marcel Marco Marcus Margaret Maria Mariam Marie
Marina Mario Marta Martha Martin Martina Mary Mateo Matthew Matthias Maya Megan Mehmet Mei
Melanie Mia Michael Michelle Miguel Mikhail Milan Mila Ming Mira Miriam Mohamed Mohammed Monica
Monika Mustafa Nadia Nancy Naomi Natalia Natasha Nicholas Nicola Nicolas Nicole Nikolai Nina
Noah Noor Nora Olaf Olga Oliver Olivia Omar Oscar Otto Pablo Pamela Patricia Patrick Paul Paula
Pauline Pavel Pedro Peter Petra Philip Pierre Piotr Priya Rachel Rafael Rahul Rajesh Ralf Ramon
Raquel Raul Rebecca Renate Ricardo Richard Robert Roberto Rosa Roland Samantha Samir Samuel
Sandra Sara Sarah Sebastian Sergei Sergio Sharon Simone Sofia Sofie Sophia Sophie Stefan
Stefanie Stephanie Stephen Steven Susan Susanne Svetlana Sven Sylvia Takashi Tatiana Teresa
Theresa Thomas Thorsten Tim Timo Tobias Tom Tomasz Ulrich Ursula Valentina Vanessa Vera Veronica
Victor Victoria Viktor Vincent Vladimir Walter Wei Werner William Wolfgang Xavier Yasmin Yosef
Yuki Yuri Yusuf Yvonne Zeynep Zoe
""".split()
)
