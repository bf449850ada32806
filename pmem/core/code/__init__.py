"""Program text: its literals, its layout, what defines a name, and what a constant is."""
