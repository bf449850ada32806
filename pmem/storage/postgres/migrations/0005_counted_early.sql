-- Until a table is analyzed for the first time, the server takes all of its indexes for equally good,
-- and may read every record of a store to find one. Its own time for that comes a minute later, after
-- a first `sync`; so whatever doubles the table lets it be analyzed at once.

create or replace function pmem.follow_written() returns trigger language plpgsql security definer
set search_path = pmem, pg_temp as $$
declare
  pages bigint := pg_relation_size('record') / current_setting('block_size')::bigint;
begin
  if exists (select from written) then
    perform note_changes(array_agg(project), array_agg(store), array_agg(id),
      array_agg(null::bytea)) from written;
    delete from mark using written where mark.record = written.number;
  end if;
  if pages > 64 and pages > 2 * (select relpages from pg_class where oid = 'record'::regclass) then
    analyze (skip_locked) record;
  end if;
  return null;
end $$;
