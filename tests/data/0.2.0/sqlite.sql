CREATE TABLE analytics_calls (
  id INTEGER NOT NULL,
  project VARCHAR(200) NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_analytics_calls PRIMARY KEY (id)
);
CREATE INDEX ix_analytics_calls_at ON analytics_calls (project, at);
CREATE TABLE audit (
  id INTEGER NOT NULL,
  at DATETIME NOT NULL,
  user VARCHAR(40) NOT NULL,
  act VARCHAR(20) NOT NULL,
  project VARCHAR(200) NOT NULL,
  channel VARCHAR(40) NOT NULL,
  job INTEGER,
  prompt INTEGER,
  subscription INTEGER,
  "end" VARCHAR(20),
  CONSTRAINT pk_audit PRIMARY KEY (id)
);
CREATE INDEX ix_audit_job ON audit (job);
CREATE TABLE back_offs (
  project VARCHAR(200) NOT NULL,
  until DATETIME NOT NULL,
  attempts INTEGER NOT NULL,
  reason VARCHAR(200) NOT NULL,
  since DATETIME NOT NULL,
  CONSTRAINT pk_back_offs PRIMARY KEY (project)
);
CREATE TABLE channels (
  id VARCHAR(40) NOT NULL,
  project VARCHAR(200),
  by_mention BOOLEAN DEFAULT false NOT NULL,
  CONSTRAINT pk_channels PRIMARY KEY (id)
);
CREATE TABLE conversations (
  id INTEGER NOT NULL,
  channel VARCHAR(40) NOT NULL,
  thread VARCHAR(40) NOT NULL,
  newest_ts VARCHAR(40) NOT NULL,
  missed_since VARCHAR(40),
  due_at DATETIME,
  attempts INTEGER DEFAULT 0 NOT NULL,
  claimed_by VARCHAR(80),
  claimed_until DATETIME,
  CONSTRAINT pk_conversations PRIMARY KEY (id)
);
CREATE INDEX ix_conversations_due_at ON conversations (due_at);
CREATE UNIQUE INDEX ix_conversations_place ON conversations (channel, thread);
CREATE TABLE heartbeats (
  process VARCHAR(80) NOT NULL,
  beat_at DATETIME,
  tried_at DATETIME,
  CONSTRAINT pk_heartbeats PRIMARY KEY (process)
);
CREATE TABLE jobs (
  number INTEGER NOT NULL,
  project VARCHAR(200) NOT NULL,
  channel VARCHAR(40) NOT NULL,
  requester VARCHAR(40) NOT NULL,
  text TEXT NOT NULL,
  asked_at DATETIME NOT NULL,
  state VARCHAR(20) NOT NULL,
  root_ts VARCHAR(40),
  thread_ts VARCHAR(40),
  service_id VARCHAR(400),
  iteration INTEGER DEFAULT 0 NOT NULL,
  version INTEGER DEFAULT 0 NOT NULL,
  iteration_requester VARCHAR(40),
  iteration_started_at DATETIME,
  saw_active BOOLEAN DEFAULT false NOT NULL,
  unconfirmed_until DATETIME,
  pr_link TEXT,
  pr_version INTEGER,
  repository TEXT,
  ref TEXT,
  ended_at DATETIME,
  told_running_at DATETIME,
  problem TEXT,
  queue_until DATETIME,
  queue_why VARCHAR(20),
  uses_left INTEGER,
  also_asked JSON,
  earlier JSON,
  poll_at DATETIME,
  misses INTEGER DEFAULT 0 NOT NULL,
  missing_since DATETIME,
  unread_since DATETIME,
  model TEXT,
  created_at DATETIME,
  archived_at DATETIME,
  shown_minutes INTEGER DEFAULT 0 NOT NULL,
  again_of INTEGER,
  trouble VARCHAR(20),
  trouble_since DATETIME,
  review VARCHAR(20),
  reviewed_by VARCHAR(40),
  reviewed_at DATETIME,
  remind_at DATETIME,
  project_label TEXT,
  about JSON,
  claimed_by VARCHAR(80),
  claimed_until DATETIME,
  CONSTRAINT pk_jobs PRIMARY KEY (number)
);
CREATE INDEX ix_jobs_in_thread ON jobs (channel, thread_ts) WHERE thread_ts IS NOT NULL;
CREATE INDEX ix_jobs_poll_at ON jobs (poll_at) WHERE poll_at IS NOT NULL;
CREATE INDEX ix_jobs_remind_at ON jobs (remind_at) WHERE remind_at IS NOT NULL;
CREATE INDEX ix_jobs_service_id ON jobs (service_id) WHERE service_id IS NOT NULL;
CREATE UNIQUE INDEX ix_jobs_thread ON jobs (channel, root_ts);
CREATE TABLE limits (
  project VARCHAR(200) NOT NULL,
  prompts_until DATETIME,
  calls_until DATETIME,
  no_previews_until DATETIME,
  CONSTRAINT pk_limits PRIMARY KEY (project)
);
CREATE TABLE members (
  user VARCHAR(40) NOT NULL,
  access VARCHAR(20) NOT NULL,
  rule VARCHAR(40) NOT NULL,
  checked_at DATETIME NOT NULL,
  told_at DATETIME,
  CONSTRAINT pk_members PRIMARY KEY (user)
);
CREATE TABLE paces (
  subject VARCHAR(40) NOT NULL,
  free_at DATETIME NOT NULL,
  CONSTRAINT pk_paces PRIMARY KEY (subject)
);
CREATE TABLE reviewers (
  reviewer VARCHAR(40) NOT NULL,
  channel VARCHAR(40) NOT NULL,
  CONSTRAINT pk_reviewers PRIMARY KEY (reviewer, channel)
);
CREATE TABLE snapshots (
  id INTEGER NOT NULL,
  project VARCHAR(200) NOT NULL,
  source VARCHAR(20) DEFAULT 'visitors' NOT NULL,
  first DATE NOT NULL,
  "end" DATE NOT NULL,
  generation VARCHAR(40) NOT NULL,
  is_final BOOLEAN NOT NULL,
  state VARCHAR(20) NOT NULL,
  with_pages BOOLEAN NOT NULL,
  human BIGINT,
  ai BIGINT,
  total BIGINT,
  rows INTEGER DEFAULT 0 NOT NULL,
  repeated INTEGER DEFAULT 0 NOT NULL,
  next_offset INTEGER DEFAULT 0 NOT NULL,
  calls INTEGER DEFAULT 0 NOT NULL,
  attempts INTEGER DEFAULT 0 NOT NULL,
  complete BOOLEAN DEFAULT false NOT NULL,
  problem TEXT,
  created_at DATETIME NOT NULL,
  taken_at DATETIME,
  words JSON,
  due_at DATETIME NOT NULL,
  wanted_until DATETIME,
  planned_until DATETIME,
  claimed_by VARCHAR(80),
  claimed_until DATETIME,
  CONSTRAINT pk_snapshots PRIMARY KEY (id)
);
CREATE INDEX ix_snapshots_state ON snapshots (state, due_at);
CREATE UNIQUE INDEX ix_snapshots_window ON snapshots (project, source, first, "end", generation);
CREATE TABLE subscriptions (
  id INTEGER NOT NULL,
  place VARCHAR(600) NOT NULL,
  project VARCHAR(200) NOT NULL,
  channel VARCHAR(40) NOT NULL,
  section TEXT,
  weekday INTEGER NOT NULL,
  at VARCHAR(5) NOT NULL,
  zone VARCHAR(80) NOT NULL,
  owner VARCHAR(40) NOT NULL,
  state VARCHAR(20) NOT NULL,
  revision INTEGER DEFAULT 1 NOT NULL,
  next_run_at DATETIME,
  last_run_at DATETIME,
  last_result TEXT,
  response_url TEXT,
  created_at DATETIME NOT NULL,
  CONSTRAINT pk_subscriptions PRIMARY KEY (id),
  CONSTRAINT uq_subscriptions_place UNIQUE (place)
);
CREATE INDEX ix_subscriptions_state ON subscriptions (state, next_run_at);
CREATE TABLE deliveries (
  seq INTEGER NOT NULL,
  id VARCHAR(40) NOT NULL,
  "key" VARCHAR(400) NOT NULL,
  kind VARCHAR(20) NOT NULL,
  state VARCHAR(20) NOT NULL,
  job INTEGER,
  channel VARCHAR(40) NOT NULL,
  user VARCHAR(40),
  message JSON,
  message_ts VARCHAR(40),
  reaction VARCHAR(80),
  response_url TEXT,
  plain BOOLEAN DEFAULT false NOT NULL,
  created_at DATETIME NOT NULL,
  due_at DATETIME NOT NULL,
  attempts INTEGER DEFAULT 0 NOT NULL,
  claimed_by VARCHAR(80),
  claimed_until DATETIME,
  posted_ts VARCHAR(40),
  error TEXT,
  settled_at DATETIME,
  subscription INTEGER,
  question INTEGER,
  edits VARCHAR(400),
  CONSTRAINT pk_deliveries PRIMARY KEY (seq),
  CONSTRAINT uq_deliveries_id UNIQUE (id),
  CONSTRAINT uq_deliveries_key UNIQUE ("key"),
  CONSTRAINT fk_deliveries_job FOREIGN KEY(job) REFERENCES jobs (number)
);
CREATE INDEX ix_deliveries_channel ON deliveries (channel, state);
CREATE INDEX ix_deliveries_job ON deliveries (job, state);
CREATE INDEX ix_deliveries_settled_at ON deliveries (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX ix_deliveries_state ON deliveries (state, due_at);
CREATE TABLE page_visitors (
  id INTEGER NOT NULL,
  snapshot INTEGER NOT NULL,
  hash VARCHAR(32) NOT NULL,
  path TEXT NOT NULL,
  human BIGINT NOT NULL,
  ai BIGINT NOT NULL,
  total BIGINT NOT NULL,
  CONSTRAINT pk_page_visitors PRIMARY KEY (id),
  CONSTRAINT fk_page_visitors_snapshot FOREIGN KEY(snapshot) REFERENCES snapshots (id)
);
CREATE UNIQUE INDEX ix_page_visitors_page ON page_visitors (snapshot, hash);
CREATE TABLE previews (
  job INTEGER NOT NULL,
  project VARCHAR(200) NOT NULL,
  iteration INTEGER NOT NULL,
  requester VARCHAR(40) NOT NULL,
  branch TEXT NOT NULL,
  state VARCHAR(20) NOT NULL,
  asked_at DATETIME NOT NULL,
  asks INTEGER DEFAULT 0 NOT NULL,
  called_at DATETIME,
  status_id VARCHAR(400),
  url TEXT,
  files JSON,
  log TEXT,
  due_at DATETIME,
  claimed_by VARCHAR(80),
  claimed_until DATETIME,
  CONSTRAINT pk_previews PRIMARY KEY (job),
  CONSTRAINT fk_previews_job FOREIGN KEY(job) REFERENCES jobs (number)
);
CREATE INDEX ix_previews_called_at ON previews (called_at) WHERE called_at IS NOT NULL;
CREATE INDEX ix_previews_due_at ON previews (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE prompts (
  id INTEGER NOT NULL,
  "key" VARCHAR(400) NOT NULL,
  job INTEGER NOT NULL,
  project VARCHAR(200) NOT NULL,
  kind VARCHAR(20) NOT NULL,
  state VARCHAR(20) NOT NULL,
  asked_by VARCHAR(40) NOT NULL,
  raw TEXT NOT NULL,
  text TEXT,
  asked_at DATETIME NOT NULL,
  channel VARCHAR(40),
  message_ts VARCHAR(40),
  response_url TEXT,
  take_thread VARCHAR(20),
  attachments TEXT,
  files JSON,
  due_at DATETIME NOT NULL,
  sent_at DATETIME,
  attempts INTEGER DEFAULT 0 NOT NULL,
  in_queue BOOLEAN DEFAULT false NOT NULL,
  claimed_by VARCHAR(80),
  claimed_until DATETIME,
  CONSTRAINT pk_prompts PRIMARY KEY (id),
  CONSTRAINT uq_prompts_key UNIQUE ("key"),
  CONSTRAINT fk_prompts_job FOREIGN KEY(job) REFERENCES jobs (number)
);
CREATE INDEX ix_prompts_asked_by ON prompts (asked_by, asked_at);
CREATE INDEX ix_prompts_job ON prompts (job);
CREATE INDEX ix_prompts_sent_at ON prompts (project, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX ix_prompts_state ON prompts (state, due_at);
CREATE INDEX ix_prompts_waiting ON prompts (asked_by, state);
CREATE TABLE pull_requests (
  job INTEGER NOT NULL,
  requester VARCHAR(40) NOT NULL,
  link TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  iteration_ended_at DATETIME NOT NULL,
  since DATETIME NOT NULL,
  seen JSON,
  etag TEXT,
  looked_at DATETIME,
  look_at DATETIME,
  failures INTEGER DEFAULT 0 NOT NULL,
  claimed_by VARCHAR(80),
  claimed_until DATETIME,
  CONSTRAINT pk_pull_requests PRIMARY KEY (job),
  CONSTRAINT fk_pull_requests_job FOREIGN KEY(job) REFERENCES jobs (number)
);
CREATE INDEX ix_pull_requests_look_at ON pull_requests (look_at) WHERE look_at IS NOT NULL;
CREATE TABLE questions (
  id INTEGER NOT NULL,
  "key" VARCHAR(400) NOT NULL,
  kind VARCHAR(20) NOT NULL,
  subscription INTEGER,
  project VARCHAR(200) NOT NULL,
  channel VARCHAR(40) NOT NULL,
  user VARCHAR(40),
  "query" JSON,
  state VARCHAR(20) NOT NULL,
  now INTEGER NOT NULL,
  was INTEGER,
  older INTEGER,
  chart JSON NOT NULL,
  missed JSON,
  response_url TEXT,
  calls_before INTEGER DEFAULT 0 NOT NULL,
  thread_ts VARCHAR(40),
  asked_at DATETIME NOT NULL,
  due_at DATETIME NOT NULL,
  claimed_by VARCHAR(80),
  claimed_until DATETIME,
  CONSTRAINT pk_questions PRIMARY KEY (id),
  CONSTRAINT uq_questions_key UNIQUE ("key"),
  CONSTRAINT fk_questions_subscription FOREIGN KEY(subscription) REFERENCES subscriptions (id),
  CONSTRAINT fk_questions_now FOREIGN KEY(now) REFERENCES snapshots (id),
  CONSTRAINT fk_questions_was FOREIGN KEY(was) REFERENCES snapshots (id),
  CONSTRAINT fk_questions_older FOREIGN KEY(older) REFERENCES snapshots (id)
);
CREATE INDEX ix_questions_state ON questions (state, due_at);
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
