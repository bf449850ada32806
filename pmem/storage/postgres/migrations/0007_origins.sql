-- Who wrote a record, which nobody can say otherwise, and the digest of it that pmem gave: what is
-- changed beside pmem leaves that as it was. Neither is known of what was written before.

alter table pmem.record add column writer name, add column given bytea,
  add column is_outside boolean generated always as (
    writer is not null and given is distinct from sha256(data)) stored;
create index record_outside on pmem.record (project, store, id) where is_outside;

create or replace function pmem.read_body() returns trigger language plpgsql as $$
begin
  new.body := replace(convert_from(new.data, 'UTF8'), '\u0000', '\ufffd')::jsonb;
  if tg_op = 'INSERT' or new.data <> old.data then
    new.writer := session_user;
  else
    new.writer := old.writer;
  end if;
  return new;
end $$;
