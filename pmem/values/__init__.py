"""What things are: records, settings, ids and times, and how they are written."""
