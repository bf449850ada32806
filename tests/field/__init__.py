"""What people report of programs like this one, as it should come out here."""
