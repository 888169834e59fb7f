CREATE TABLE claims (
  epoch INTEGER PRIMARY KEY, owner INTEGER NOT NULL, lane TEXT, head INTEGER NOT NULL,
  first INTEGER NOT NULL, last INTEGER NOT NULL, claimed_at INTEGER NOT NULL
);
CREATE TABLE contents (item INTEGER PRIMARY KEY, headers TEXT NOT NULL, body BLOB, checksum INTEGER);
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE items (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL, owner INTEGER NOT NULL, lane TEXT, position INTEGER NOT NULL,
  state INTEGER NOT NULL, reason TEXT, is_head INTEGER NOT NULL, due_at INTEGER NOT NULL,
  method TEXT NOT NULL, url TEXT NOT NULL, origin TEXT NOT NULL,
  attempts INTEGER NOT NULL, conflicts INTEGER NOT NULL,
  created_at INTEGER NOT NULL, not_before INTEGER, expires_at INTEGER, next_attempt_at INTEGER,
  claimed_at INTEGER, unknown_since INTEGER, finished_at INTEGER,
  last_status INTEGER, last_error TEXT,
  idempotency_key TEXT NOT NULL, digest BLOB, replace_key TEXT, bytes INTEGER NOT NULL
, expect TEXT, has_left INTEGER NOT NULL DEFAULT 0, made_at INTEGER NOT NULL DEFAULT 0, offline_answers INTEGER NOT NULL DEFAULT 0);
CREATE TABLE owners (
  id INTEGER PRIMARY KEY, account TEXT NOT NULL, issuer TEXT, subject TEXT, is_current INTEGER NOT NULL,
  pending INTEGER NOT NULL, in_flight INTEGER NOT NULL, waiting INTEGER NOT NULL, held INTEGER NOT NULL,
  delivered INTEGER NOT NULL, dead INTEGER NOT NULL, cancelled INTEGER NOT NULL, superseded INTEGER NOT NULL,
  bytes INTEGER NOT NULL
);
CREATE TABLE pauses (account TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE places (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL, scheduled_at INTEGER NOT NULL DEFAULT 0, boot TEXT, stepped INTEGER NOT NULL DEFAULT 0);
CREATE INDEX items_by_age ON items (owner, created_at) WHERE state IN (0, 2);
CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL AND state < 3;
CREATE UNIQUE INDEX items_by_id ON items (id);
CREATE UNIQUE INDEX items_by_key ON items (owner, idempotency_key) WHERE digest IS NOT NULL;
CREATE INDEX items_by_lane ON items (owner, lane, state, position) WHERE lane IS NOT NULL;
CREATE INDEX items_by_newness ON items (owner, replace_key, made_at) WHERE replace_key IS NOT NULL;
CREATE INDEX items_by_replace_key ON items (owner, replace_key, state) WHERE replace_key IS NOT NULL;
CREATE INDEX items_by_state ON items (owner, state, position);
CREATE INDEX items_finished ON items (state, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX items_ready ON items (owner, origin, (lane IS NULL), due_at) WHERE is_head = 1;
CREATE INDEX items_retrying ON items (owner, origin, due_at)
  WHERE is_head = 1 AND due_at > 0 AND (not_before IS NULL OR not_before < due_at);
CREATE INDEX items_unknown ON items (owner) WHERE unknown_since IS NOT NULL AND state < 3;
CREATE UNIQUE INDEX owners_by_subject ON owners (account, ifnull(issuer, ''), ifnull(subject, ''));
INSERT INTO claims VALUES (5, 1, NULL, 3, 3, 3, 1795255200000);
INSERT INTO contents VALUES (1, '', NULL, -1823784299775020465);
INSERT INTO contents VALUES (2, '', NULL, -7945713687076724375);
INSERT INTO contents VALUES (3, '', NULL, 1793781093140285530);
INSERT INTO grdb_migrations VALUES ('1');
INSERT INTO grdb_migrations VALUES ('2');
INSERT INTO grdb_migrations VALUES ('3');
INSERT INTO grdb_migrations VALUES ('4');
INSERT INTO grdb_migrations VALUES ('5');
INSERT INTO grdb_migrations VALUES ('6');
INSERT INTO grdb_migrations VALUES ('7');
INSERT INTO grdb_migrations VALUES ('8');
INSERT INTO items VALUES (1, '01a1fd8c-6900-732c-b774-49f1f72db846', 1, 'default', 1, 2, NULL, 1, 1795255260000, 'POST', 'https://api.example.com/1', 'https://api.example.com', 1, 0, 1795255200000, NULL, NULL, 1795255260000, NULL, NULL, NULL, 503, 'no', 'one', X'B2F99D8E49C00D0D3D15ADB22A10E03DD95C07C7BBE6AADB8DD5F7D37A18D2A0', NULL, 25, NULL, 0, 1795255200000, 0);
INSERT INTO items VALUES (2, '01a1fd8c-6900-70ef-a1bc-5979ea830d5b', 1, 'default', 2, 0, NULL, 0, 0, 'POST', 'https://api.example.com/2', 'https://api.example.com', 0, 0, 1795255200000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '01a1fd8c-6900-70ef-a1bc-5979ea830d5b', NULL, NULL, 25, NULL, 0, 1795255200000, 0);
INSERT INTO items VALUES (3, '01a1fd8c-6900-72c6-ac20-9ee78e7c6e37', 1, NULL, 3, 0, NULL, 0, 0, 'POST', 'https://api.example.com/3', 'https://api.example.com', 0, 0, 1795255200000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '01a1fd8c-6900-72c6-ac20-9ee78e7c6e37', NULL, NULL, 25, NULL, 0, 1795255200000, 0);
INSERT INTO owners VALUES (1, 'work', 'https://id.example.com', 'alice', 0, 2, 0, 1, 0, 0, 0, 0, 0, 75);
INSERT INTO places VALUES (1, 5, 1795255200000, 'boot', 0);
