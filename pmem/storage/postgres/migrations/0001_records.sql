-- Projects and their records, with everything that selecting, comparing and searching needs.

create table pmem.project (
  number integer generated always as identity primary key,
  key text collate "C" not null unique,
  name text not null,
  revision bigint not null default 0,
  reading integer not null,  -- how records are read into what they are found by: a version
  created_at timestamptz not null default now()
);

-- How often each store of a project has changed: what was computed of it holds until it does.
create table pmem.store (
  project integer not null references pmem.project on delete cascade,
  name text collate "C" not null,
  revision bigint not null,
  primary key (project, name)
);

-- `data` is the record as its file holds it, byte for byte; `body` is the same as JSONB (which
-- knows no zero character). What policies look at is made of it, and nobody can say otherwise.
create table pmem.record (
  number bigint generated always as identity primary key,
  project integer not null references pmem.project on delete cascade,
  store text collate "C" not null,
  id text collate "C" not null,
  data bytea not null,
  body jsonb not null,
  state text collate "C" generated always as (coalesce(body ->> 'state', 'active')) stored,
  kind text collate "C" generated always as (
    case store when 'long-term-memory' then coalesce(body ->> 'category', '')
      when 'episodic-memory' then 'event' else 'activity' end) stored,
  procedural boolean generated always as (store = 'long-term-memory'
    and (coalesce(body ->> 'type', '') = 'procedure'
      or coalesce(body ->> 'category', '') = 'procedural')) stored,
  app text collate "C" generated always as (
    case store when 'long-term-memory' then body #>> '{scope,app}'
      else body ->> 'app' end) stored,
  pinned boolean generated always as (coalesce(body ->> 'pinned', 'false') = 'true') stored,
  "user" text collate "C" generated always as (body #>> '{scope,user}') stored,
  agent text collate "C" generated always as (body #>> '{scope,agent}') stored,
  run text collate "C" generated always as (body #>> '{scope,run}') stored,
  actor text collate "C" generated always as (body #>> '{scope,actor}') stored,
  role text collate "C" generated always as (body #>> '{scope,role}') stored,
  type text collate "C",
  category text collate "C",
  subject text collate "C",
  importance double precision,
  trust integer,
  created bigint,
  updated bigint,
  valid_from bigint,
  valid_until bigint,
  purge_at bigint,
  review_at bigint,
  review_if integer,
  cites integer,
  disputed integer,
  tokens bigint,
  worth double precision,
  moment text collate "C",
  happened bigint,
  events integer,
  accesses bigint,
  last_access bigint,
  used bigint,
  unique (project, store, id),
  check (body ->> 'id' = id)
);
create index record_by_short_id on pmem.record (project, store, substr(id, strpos(id, '-') + 1));
create index record_by_type on pmem.record (project, store, type, tokens, created);
create index record_by_importance on pmem.record (project, store, importance, worth, created);
create index record_by_subject on pmem.record using hash (subject) where subject <> '';
create index record_by_app on pmem.record using hash (app) where app is not null;
create index record_pinned on pmem.record (project, store, id) where pinned;
create index record_by_time on pmem.record (project, store, happened, events);
create index record_by_change on pmem.record (project, store, updated);
create index record_by_creation on pmem.record (project, store, created, state);
create index record_by_review on pmem.record (project, store, review_at)
  where review_at is not null;

-- What memories are found by: digests of keys, as contents may be longer than an index takes.
create table pmem.twin (
  key bytea not null,
  record bigint not null references pmem.record on delete cascade,
  primary key (key, record)
);
create index twin_by_record on pmem.twin (record);

create table pmem.word (
  project integer not null,
  word text collate "C" not null,
  record bigint not null references pmem.record on delete cascade,
  primary key (project, word, record)
);
create index word_by_record on pmem.word (record);

create table pmem.place (
  project integer not null,
  patterns text collate "C" not null,
  record bigint primary key references pmem.record on delete cascade
);
create index place_by_project on pmem.place (project);

-- The files that memories cite, and every folder above them, as digests of their paths.
create table pmem.cited (
  project integer not null,
  path bytea not null,
  record bigint not null references pmem.record on delete cascade,
  primary key (project, path, record)
);
create index cited_by_record on pmem.cited (record);

create table pmem.mark (
  name text collate "C" not null,
  record bigint not null references pmem.record on delete cascade,
  primary key (name, record)
);
create index mark_by_record on pmem.mark (record);

create table pmem.figure (
  project integer not null references pmem.project on delete cascade,
  store text collate "C" not null,
  name text collate "C" not null,
  revision bigint not null,
  value text not null,
  primary key (project, store, name)
);

-- What searches need. A document that several records hold stands here once, as the last of
-- them says; `shared` names them all, under a digest of the document's id.
create table pmem.document (
  project integer not null references pmem.project on delete cascade,
  number bigint not null,
  label text collate "C" not null,
  store text collate "C" not null,
  record text collate "C" not null,
  id text not null,
  length double precision not null,
  peak double precision not null,
  traits bigint not null,
  session bigint,
  place bigint not null,
  speaker text collate "C" not null,
  at double precision not null,
  importance double precision not null,
  accesses bigint not null,
  about text not null,
  bounded boolean not null,
  category text collate "C" not null,
  procedural boolean not null,
  app text collate "C",
  facts text not null,
  terms text[] not null,
  primary key (project, number),
  foreign key (project, store, record) references pmem.record (project, store, id)
    on delete cascade
);
create index document_by_record on pmem.document (project, store, record);
create index document_by_session on pmem.document (project, session, place)
  where session is not null;
create index document_by_label on pmem.document (project, label, at desc, number);
create index document_by_speaker on pmem.document (project, label, speaker) where speaker <> '';
create index document_bounded on pmem.document (project) where bounded;

create table pmem.posting (
  project integer not null,
  label text collate "C" not null,
  term text collate "C" not null,
  document bigint not null,
  count double precision not null,
  primary key (project, label, term, document) include (count),
  foreign key (project, document) references pmem.document (project, number) on delete cascade
);
create index posting_by_document on pmem.posting (project, document);

create table pmem.link (
  project integer not null,
  source bigint not null,
  target text collate "C" not null,
  type text not null,
  strength double precision not null,
  foreign key (project, source) references pmem.document (project, number) on delete cascade
);
create index link_by_source on pmem.link (project, source);
create index link_by_target on pmem.link using hash (target);

create table pmem.shared (
  project integer not null,
  id bytea not null,
  store text collate "C" not null,
  record text collate "C" not null,
  primary key (project, id, store, record),
  foreign key (project, store, record) references pmem.record (project, store, id)
    on delete cascade
);
create index shared_by_record on pmem.shared (project, store, record);

create table pmem.total (
  project integer not null references pmem.project on delete cascade,
  label text collate "C" not null,
  documents bigint not null,
  length double precision not null,
  sessions bigint not null,
  said bigint not null,
  said_length double precision not null,
  primary key (project, label)
);

create table pmem.speaker (
  project integer not null references pmem.project on delete cascade,
  label text collate "C" not null,
  name text collate "C" not null,
  said bigint not null,
  primary key (project, label, name)
);

-- Of what is gone a digest stays, so that a folder that still has it can tell that it is old.
-- What was written lately, for those who follow a project: the revision has no gaps.
create table pmem.change (
  project integer not null references pmem.project on delete cascade,
  revision bigint not null,
  store text collate "C" not null,
  id text collate "C" not null,
  is_gone boolean not null,
  digest bytea,
  at timestamptz not null default now(),
  primary key (project, revision, store, id)
);
create index change_gone on pmem.change (project, store, id) where is_gone;

create function pmem.read_body() returns trigger language plpgsql as $$
begin
  new.body := replace(convert_from(new.data, 'UTF8'), '\u0000', '\ufffd')::jsonb;
  return new;
end $$;
create trigger read_body before insert or update on pmem.record
  for each row execute function pmem.read_body();

-- One step of a project's revision for each statement that changes records; whoever listens is
-- told when the transaction is made. Marks go where a record changes, and all where one goes.
create function pmem.note_changes(
  numbers integer[], stores text[], ids text[], digests bytea[]
) returns void language plpgsql security definer set search_path = pmem, pg_temp as $$
declare
  one integer;
  reached bigint;
begin
  for one in select distinct each from unnest(numbers) as each order by each loop
    update project set revision = revision + 1 where number = one returning revision into reached;
    if reached is null then
      continue;  -- the project itself is going
    end if;
    insert into store select distinct one, touched.store, 1
      from unnest(numbers, stores) as touched (project, store) where touched.project = one
      on conflict (project, name) do update set revision = store.revision + 1;
    insert into change (project, revision, store, id, is_gone, digest)
      select one, reached, touched.store, touched.id, touched.digest is not null, touched.digest
      from unnest(numbers, stores, ids, digests) as touched (project, store, id, digest)
      where touched.project = one;
    delete from change where project = one and revision <= reached - 100000;
    perform pg_notify('pmem_' || one, reached::text);
  end loop;
end $$;

create function pmem.follow_written() returns trigger language plpgsql security definer
set search_path = pmem, pg_temp as $$
begin
  if exists (select from written) then
    perform note_changes(array_agg(project), array_agg(store), array_agg(id),
      array_agg(null::bytea)) from written;
    delete from mark using written where mark.record = written.number;
  end if;
  return null;
end $$;
create function pmem.follow_gone() returns trigger language plpgsql security definer
set search_path = pmem, pg_temp as $$
begin
  if exists (select from gone) then
    perform note_changes(array_agg(project), array_agg(store), array_agg(id),
      array_agg(sha256(data))) from gone;
    delete from mark using record
      where mark.record = record.number and record.project in (select project from gone);
  end if;
  return null;
end $$;
create trigger follow_insert after insert on pmem.record referencing new table as written
  for each statement execute function pmem.follow_written();
create trigger follow_update after update on pmem.record referencing new table as written
  for each statement execute function pmem.follow_written();
create trigger follow_delete after delete on pmem.record referencing old table as gone
  for each statement execute function pmem.follow_gone();

-- The aggregates of documents follow every statement; a session counts while it has a document.
create function pmem.count_more() returns trigger language plpgsql security definer
set search_path = pmem, pg_temp as $$
begin
  insert into total
    select more.project, more.label, count(*), sum(more.length),
      count(distinct more.session) filter (where not exists (
        select from document as known where known.project = more.project and known.label = more.label
          and known.session = more.session
          and not exists (select from counted where counted.project = known.project
            and counted.number = known.number))),
      count(more.session), coalesce(sum(more.length) filter (where more.session is not null), 0)
    from counted as more group by more.project, more.label
    on conflict (project, label) do update set
      documents = total.documents + excluded.documents, length = total.length + excluded.length,
      sessions = total.sessions + excluded.sessions, said = total.said + excluded.said,
      said_length = total.said_length + excluded.said_length;
  insert into speaker
    select project, label, speaker, count(*) from counted where speaker <> ''
    group by project, label, speaker
    on conflict (project, label, name) do update set said = speaker.said + excluded.said;
  return null;
end $$;
create function pmem.count_fewer() returns trigger language plpgsql security definer
set search_path = pmem, pg_temp as $$
begin
  update total set documents = total.documents - less.documents,
      length = total.length - less.length, sessions = total.sessions - less.sessions,
      said = total.said - less.said, said_length = total.said_length - less.said_length
    from (select fewer.project, fewer.label, count(*) as documents, sum(fewer.length) as length,
        count(distinct fewer.session) filter (where not exists (
          select from document as left_over where left_over.project = fewer.project
            and left_over.label = fewer.label and left_over.session = fewer.session)) as sessions,
        count(fewer.session) as said,
        coalesce(sum(fewer.length) filter (where fewer.session is not null), 0) as said_length
      from counted as fewer group by fewer.project, fewer.label) as less
    where total.project = less.project and total.label = less.label;
  delete from total using counted where total.project = counted.project
    and total.label = counted.label and total.documents = 0;
  update speaker set said = speaker.said - less.said
    from (select project, label, speaker as name, count(*) as said from counted
      where speaker <> '' group by project, label, speaker) as less
    where speaker.project = less.project and speaker.label = less.label
      and speaker.name = less.name;
  delete from speaker using counted where speaker.project = counted.project
    and speaker.label = counted.label and speaker.said = 0;
  return null;
end $$;
create trigger count_more after insert on pmem.document referencing new table as counted
  for each statement execute function pmem.count_more();
create trigger count_fewer after delete on pmem.document referencing old table as counted
  for each statement execute function pmem.count_fewer();
