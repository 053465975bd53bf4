-- +goose Up

-- A turn that its client has taken back.
ALTER TABLE turns ADD COLUMN withdrawn_at INTEGER CHECK ((status = 'withdrawn') = (withdrawn_at IS NOT NULL));
-- Only checks change, and no rows: see section 7 of https://www.sqlite.org/lang_altertable.html
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
    '(''accepted'', ''processed'', ''failed'')', '(''accepted'', ''processed'', ''failed'', ''withdrawn'')'),
    'CHECK ((status = ''processed'') =', 'CHECK (status = ''withdrawn'' OR (status = ''processed'') =')
    WHERE type = 'table' AND name = 'turns';
PRAGMA writable_schema = RESET;

-- +goose Down

DELETE FROM turns WHERE status = 'withdrawn';
ALTER TABLE turns DROP COLUMN withdrawn_at;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
    '(''accepted'', ''processed'', ''failed'', ''withdrawn'')', '(''accepted'', ''processed'', ''failed'')'),
    'CHECK (status = ''withdrawn'' OR (status = ''processed'') =', 'CHECK ((status = ''processed'') =')
    WHERE type = 'table' AND name = 'turns';
PRAGMA writable_schema = RESET;
