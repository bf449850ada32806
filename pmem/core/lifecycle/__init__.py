"""The life of a record: its states, its decay, and what upkeep does with it."""
