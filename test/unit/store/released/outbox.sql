-- outbox.db as the released version 0.1.0 wrote it.
PRAGMA auto_vacuum = 2;
PRAGMA journal_mode = wal;
PRAGMA application_id = 1467436898;
PRAGMA user_version = 1;
CREATE TABLE payloads (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE items (seq INTEGER PRIMARY KEY AUTOINCREMENT, notifier TEXT NOT NULL, incident TEXT NOT NULL, grouped TEXT NOT NULL, event TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL, due_at INTEGER NOT NULL, payload INTEGER NOT NULL, message TEXT) STRICT;
CREATE INDEX items_due ON items (notifier, due_at, seq) WHERE message IS NULL;
CREATE INDEX items_by_incident ON items (incident, notifier, seq);
CREATE INDEX items_by_message ON items (message, seq) WHERE message IS NOT NULL;
CREATE INDEX items_by_payload ON items (payload);
CREATE TABLE messages (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, notifier TEXT NOT NULL, at INTEGER NOT NULL, expired TEXT) STRICT;
CREATE TABLE aside (key TEXT PRIMARY KEY, notifier TEXT NOT NULL, at INTEGER NOT NULL, why TEXT NOT NULL, count INTEGER NOT NULL, items TEXT NOT NULL) STRICT;
CREATE TABLE told (notifier TEXT NOT NULL, incident TEXT NOT NULL, event TEXT NOT NULL, severity TEXT NOT NULL, at INTEGER NOT NULL, sent INTEGER, thread TEXT, PRIMARY KEY (notifier, incident)) STRICT, WITHOUT ROWID;
CREATE TABLE figures (notifier TEXT PRIMARY KEY, delivered INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, expired INTEGER NOT NULL DEFAULT 0, last_delivered_at INTEGER, untold INTEGER NOT NULL DEFAULT 0, untold_from INTEGER, untold_to INTEGER) STRICT, WITHOUT ROWID;
INSERT INTO payloads (id, body) VALUES (1, '{"id":"cccccccccccccccc","kind":"xid","severity":"critical","status":"firing","started_at":1793491200000,"last_seen_at":1793491201000,"count":2,"title":"GPU 0: Xid 79","subject":{"gpu":{"index":0,"uuid":"GPU-1"}},"verdict":"v","certainty":"certain","remedies":[],"runbook":"xid"}');
INSERT INTO items (seq, notifier, incident, grouped, event, reason, at, due_at, payload, message) VALUES (2, 'ops', 'cccccccccccccccc', 'g', 'firing', 'new', 1793491200000, 1793491200000, 1, NULL);
INSERT INTO told (notifier, incident, event, severity, at, sent, thread) VALUES ('ops', 'aaaaaaaaaaaaaaaa', 'firing', 'critical', 1793491200000, 1, 'thread');
INSERT INTO told (notifier, incident, event, severity, at, sent, thread) VALUES ('ops', 'cccccccccccccccc', 'firing', 'critical', 1793491200000, NULL, NULL);
INSERT INTO figures (notifier, delivered, failed, expired, last_delivered_at, untold, untold_from, untold_to) VALUES ('ops', 1, 0, 0, 1793491200000, 0, NULL, NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (name, seq) VALUES ('items', 2);
CREATE TRIGGER last_reader AFTER DELETE ON items WHEN NOT EXISTS (SELECT 1 FROM items WHERE payload = OLD.payload)
BEGIN DELETE FROM payloads WHERE id = OLD.payload; END;
CREATE TRIGGER last_reader_moved AFTER UPDATE OF payload ON items WHEN NOT EXISTS (SELECT 1 FROM items WHERE payload = OLD.payload)
BEGIN DELETE FROM payloads WHERE id = OLD.payload; END;
