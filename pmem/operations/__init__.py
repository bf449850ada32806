"""Every use case, once: the table that lists them, and the pipeline that runs any of them."""
