"""The report, and the page that it is drawn as."""
