-- Which agent noted a record, and for whom, where nobody has confirmed it; empty where somebody has.

alter table pmem.record add column noting text collate "C";
