-- cursors.db as the released version 0.1.0 wrote it.
PRAGMA auto_vacuum = 0;
PRAGMA journal_mode = wal;
PRAGMA application_id = 0;
PRAGMA user_version = 0;
CREATE TABLE cursors (key TEXT PRIMARY KEY, value TEXT NOT NULL, t INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO cursors (key, value, t) VALUES ('kernel', '{"boot":"b","seq":7}', 1793491200000);
