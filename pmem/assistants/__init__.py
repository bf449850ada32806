"""The coding assistants around a project: what their hooks are told, and how they are set up."""
