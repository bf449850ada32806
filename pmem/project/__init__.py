"""The unit of work over one memory folder: how it is opened, configured and guarded."""
