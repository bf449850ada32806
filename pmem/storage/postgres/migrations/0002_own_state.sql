-- What a clone keeps in `local/` where there is no server: here for all who share the project.

create table pmem.thread_revision (
  project integer not null references pmem.project on delete cascade,
  thread_id text collate "C" not null,
  revision bigint not null,
  primary key (project, thread_id)
);
create table pmem.thread_seen (
  project integer not null,
  thread_id text collate "C" not null,
  fingerprint bigint not null,
  primary key (project, thread_id, fingerprint),
  foreign key (project, thread_id) references pmem.thread_revision on delete cascade
);

create table pmem.supervisor_checkpoints (
  id uuid primary key default gen_random_uuid(),
  project integer not null references pmem.project on delete cascade,
  user_id text collate "C" not null,
  thread_id text collate "C" not null,
  checkpoint_data bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  owner name not null default current_user,
  unique (project, user_id, thread_id)
);
create index checkpoint_by_time on pmem.supervisor_checkpoints (project, updated_at desc);

-- What waits for consent, and what was decided. `key` makes digests that no other project has.
create table pmem.consent_key (
  project integer primary key references pmem.project on delete cascade,
  key text not null
);
create table pmem.proposal (
  project integer not null references pmem.project on delete cascade,
  number bigint generated always as identity,
  id text collate "C" not null,
  body text not null,
  owner name not null default current_user,
  primary key (project, id)
);
create table pmem.decision (
  project integer not null references pmem.project on delete cascade,
  number bigint generated always as identity primary key,
  body text not null,
  owner name not null default current_user
);
create index decision_by_project on pmem.decision (project, number);

-- A line for each recall, so that nobody waits for anybody; folding takes them out.
create table pmem.recall (
  number bigint generated always as identity primary key,
  project integer not null references pmem.project on delete cascade,
  at timestamptz not null,
  ids text[] not null,
  counts bigint[] not null,
  owner name not null default current_user
);
create index recall_by_project on pmem.recall (project, number);

create table pmem.judged (
  project integer not null references pmem.project on delete cascade,
  pair text collate "C" not null,
  at timestamptz not null,
  primary key (project, pair)
);

create table pmem.app_energy (
  project integer primary key references pmem.project on delete cascade,
  level double precision not null,
  at timestamptz not null,
  spent double precision not null,
  unpolled double precision not null
);
create table pmem.app_work (
  project integer not null references pmem.project on delete cascade,
  number bigint generated always as identity,
  app text collate "C" not null,
  work text collate "C" not null,
  conversation text collate "C" not null,
  at timestamptz not null,
  why text not null,
  importance double precision,
  tags text[] not null,
  primary key (project, app, work, conversation)
);
create table pmem.app_context (
  project integer not null references pmem.project on delete cascade,
  conversation text collate "C" not null,
  app text collate "C" not null,
  primary key (project, conversation)
);
create table pmem.app_gone (
  project integer not null references pmem.project on delete cascade,
  app text collate "C" not null,
  at timestamptz not null,
  primary key (project, app)
);

-- Which batches of `pmem db sync` were written here: a folder that was cut short asks for its own.
create table pmem.sync_batch (
  project integer not null references pmem.project on delete cascade,
  batch uuid not null,
  at timestamptz not null default now(),
  primary key (project, batch)
);
