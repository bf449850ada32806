-- Indexes in the order that is asked for (nothing before everything, as `ordering` says), and those
-- for what a context counts and a search may not see.

drop index pmem.record_by_type, pmem.record_by_importance, pmem.record_by_time,
  pmem.record_by_change, pmem.record_by_creation;
create index record_by_type on pmem.record
  (project, store, type, tokens nulls first, created nulls first, moment nulls first, id);
create index record_by_importance on pmem.record (project, store, importance desc nulls last,
  worth desc nulls last, created nulls first, moment nulls first, id);
create index record_by_time on pmem.record (project, store, happened nulls first, events nulls first);
create index record_by_change on pmem.record (project, store, updated nulls first);
create index record_by_creation on pmem.record (project, store, created nulls first, state);
create index record_by_category on pmem.record (project, store, category);
create index record_by_validity on pmem.record (project, store, valid_from)
  include (valid_until, state, app);
create index document_by_category on pmem.document (project, category, procedural);
create index document_by_app on pmem.document (project, app) where app is not null;
