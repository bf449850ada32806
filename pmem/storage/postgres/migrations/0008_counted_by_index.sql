-- What is counted or listed of all records is read from indexes alone, and what few records have from
-- indexes of these.

drop index pmem.record_by_subject, pmem.record_by_app, pmem.record_by_review;
create index record_counted on pmem.record (project, store, state, pinned, type, importance, used)
  include (category, tokens, created, app, number, id);
create index record_by_use on pmem.record (project, store, state, accesses nulls first,
  coalesce(last_access, created) nulls first, id);
create index record_by_trust on pmem.record (project, store, trust);
create index record_by_writer on pmem.record (project, writer, is_outside);
create index record_by_subject on pmem.record (project, store, subject, state) where subject <> '';
create index record_noted on pmem.record (project, store, noting) where noting <> '';
do $$
declare
  name text;
begin
  foreach name in array array['app', 'valid_until', 'purge_at', 'review_at', 'review_if', 'disputed',
    'cites'] loop
    execute format('create index record_by_%1$s on pmem.record (project, store, %1$s nulls first)'
      ' where %1$s is not null', name);
  end loop;
end $$;
