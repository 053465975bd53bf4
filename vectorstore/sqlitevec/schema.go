package sqlitevec

// schema creates the table of the file's embedding space, which has one row, and the table of records.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS space (
		one   INTEGER PRIMARY KEY CHECK (one = 1),
		model TEXT NOT NULL,
		dim   INTEGER NOT NULL
	) STRICT`,
	`CREATE TABLE IF NOT EXISTS records ` + columns,
	index,
	`DROP INDEX IF EXISTS records_of_user`, // the index of earlier versions
}

// columns of a table of records. The content comes last, so that a long one
// spills to overflow pages that a search does not read.
const columns = `(
	id          TEXT NOT NULL UNIQUE,
	app_id      TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	agent_id    TEXT NOT NULL,
	domain      TEXT NOT NULL,
	memory_type TEXT NOT NULL,
	created_at  INTEGER NOT NULL, -- unix milliseconds
	embedding   BLOB NOT NULL,    -- unit length, 32-bit floats, little-endian
	content     TEXT NOT NULL
) STRICT`

// index finds a user's records, also those of an interval of time without reading the others.
const index = `CREATE INDEX IF NOT EXISTS records_of_user_by_time ON records (app_id, user_id, created_at)`
