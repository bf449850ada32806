-- Who may see what. People are in `pmem_member` and see every project of the database. Agents
-- and apps have roles in `pmem_agent`; `access` says what each of those may see and write, and
-- the server holds them to it whatever SQL they send. The owner of the tables is held to nothing.

do $$ begin
  if not exists (select from pg_roles where rolname = 'pmem_member') then
    create role pmem_member nologin;
  end if;
  if not exists (select from pg_roles where rolname = 'pmem_agent') then
    create role pmem_agent nologin;
  end if;
end $$;

-- Without categories a role sees all of them, and without apps the records of all apps.
create table pmem.access (
  role name not null,
  project integer not null references pmem.project on delete cascade,
  agent text,
  categories text[],
  apps text[],
  primary key (role, project)
);
create view pmem.my_access with (security_barrier) as
  select project, categories, apps from pmem.access
  where exists (select from pg_roles where rolname = access.role
    and pg_has_role(current_user, oid, 'member'));

alter table pmem.thread_revision add column owner name not null default current_user;
alter table pmem.thread_seen add column owner name not null default current_user;

revoke all on all functions in schema pmem from public;
grant usage on schema pmem to pmem_member, pmem_agent;
grant select, insert, update, delete on all tables in schema pmem to pmem_member;
revoke insert, update, delete on pmem.access, pmem.schema_version, pmem.total, pmem.speaker,
  pmem.change, pmem.store from pmem_member;
grant select on pmem.my_access, pmem.project, pmem.store, pmem.schema_version, pmem.total,
  pmem.speaker, pmem.figure, pmem.mark, pmem.change, pmem.consent_key, pmem.judged to pmem_agent;
grant select, insert, update, delete on pmem.record, pmem.twin, pmem.word, pmem.place,
  pmem.cited, pmem.document, pmem.posting, pmem.link, pmem.shared, pmem.thread_revision,
  pmem.thread_seen, pmem.supervisor_checkpoints, pmem.proposal, pmem.decision, pmem.recall,
  pmem.app_energy, pmem.app_work, pmem.app_context, pmem.app_gone to pmem_agent;

do $$
declare
  name text;
  rule text;
  mine text := 'project in (select project from pmem.my_access)';
  own text := 'owner = current_user and project in (select project from pmem.my_access)';
  category text := '(project in (select project from pmem.my_access where categories is null)'
    ' or (project, kind) in (select project, unnest(categories) from pmem.my_access))';
  app text := '(project in (select project from pmem.my_access where apps is null)'
    ' or (project, app) in (select project, unnest(apps) from pmem.my_access))';
  of_record text := 'exists (select from pmem.record as seen where seen.number = %1$I.record)';
  named text := 'exists (select from pmem.record as seen where seen.project = %1$I.project'
    ' and seen.store = %1$I.store and seen.id = %1$I.record)';
begin
  for name in select tablename from pg_tables where schemaname = 'pmem'
      and tablename <> 'schema_version' loop
    execute format('alter table pmem.%I enable row level security', name);
    execute format(
      'create policy member on pmem.%I to pmem_member using (true) with check (true)', name);
  end loop;
  for name, rule in values
    ('project', 'number in (select project from pmem.my_access)'),
    ('store', mine), ('total', mine), ('consent_key', mine), ('app_energy', mine),
    ('record', category || ' and (app is null or ' || app || ')'),
    ('twin', of_record), ('word', of_record), ('place', of_record), ('cited', of_record),
    ('document', named), ('shared', named),
    ('posting', 'exists (select from pmem.document as seen where seen.project = posting.project'
      ' and seen.number = posting.document)'),
    ('link', 'exists (select from pmem.document as seen where seen.project = link.project'
      ' and seen.number = link.source)'),
    ('speaker', 'exists (select from pmem.document as seen where seen.project = speaker.project'
      ' and seen.label = speaker.label and seen.speaker = speaker.name)'),
    ('change', 'exists (select from pmem.record as seen where seen.project = change.project'
      ' and seen.store = change.store and seen.id = change.id)'),
    ('thread_revision', own), ('thread_seen', own), ('supervisor_checkpoints', own),
    ('proposal', own), ('decision', own), ('recall', own),
    ('app_work', app), ('app_context', app), ('app_gone', app)
  loop
    rule := format(rule, name);
    execute format(
      'create policy agent on pmem.%1$I to pmem_agent using (%2$s) with check (%2$s)', name, rule);
  end loop;
end $$;
