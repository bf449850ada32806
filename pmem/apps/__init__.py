"""What apps remember: a few memories each, seen by that app alone (see docs/apps.md)."""
