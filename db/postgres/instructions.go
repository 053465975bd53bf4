package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const instructionColumns = `app_id, scope, holder, name, latest, coalesce(active, 0), earlier, changed_at`

// ofScope is the condition of a scope's rows, on the parameters $1 to $3.
const ofScope = `app_id = $1 AND scope = $2 AND holder = $3`

// instructions runs a query for instructionColumns.
func instructions(ctx context.Context, q querier, where string, args ...any) ([]memory.Instruction, error) {
	rows, _ := q.Query(ctx, `SELECT `+instructionColumns+` FROM instructions WHERE `+where, args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (i memory.Instruction, err error) {
		err = row.Scan(&i.AppID, &i.Kind, &i.ID, &i.Name, &i.Latest, &i.Active, &i.PreviouslyActive, &i.ChangedAt)
		if len(i.PreviouslyActive) == 0 {
			i.PreviouslyActive = nil
		}
		return i, err
	})
}

func oneInstruction(ctx context.Context, q querier, scope memory.Scope, name string) (i memory.Instruction, ok bool, err error) {
	found, err := instructions(ctx, q, ofScope+` AND name = $4`, scope.AppID, scope.Kind, scope.ID, name)
	if err != nil || len(found) == 0 {
		return i, false, fault(err, "read the instruction")
	}
	return found[0], true, nil
}

// ListInstructions pages through a scope's instructions by name.
func (s *Store) ListInstructions(ctx context.Context, scope memory.Scope, after string, limit int) ([]memory.Instruction, error) {
	found, err := instructions(ctx, s.pool, ofScope+` AND name > $4 ORDER BY name LIMIT $5`, scope.AppID, scope.Kind, scope.ID, after, limit)
	return found, fault(err, "list the instructions")
}

// FindInstruction returns an instruction of a scope.
func (s *Store) FindInstruction(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error) {
	i, ok, err := oneInstruction(ctx, s.pool, scope, name)
	if err == nil && !ok {
		err = notFound("instruction", name)
	}
	return i, err
}

// instructionVersions runs a query for the columns of a version.
func instructionVersions(ctx context.Context, q querier, scope memory.Scope, name, where string, args ...any) ([]memory.InstructionVersion, error) {
	rows, _ := q.Query(ctx, `SELECT version, content, note, published_at FROM instruction_versions
		WHERE `+ofScope+` AND name = $4 AND `+where, append([]any{scope.AppID, scope.Kind, scope.ID, name}, args...)...)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v memory.InstructionVersion, err error) {
		return v, row.Scan(&v.Number, &v.Content, &v.Note, &v.PublishedAt)
	})
	return found, fault(err, "read the versions of the instruction")
}

// InstructionVersion returns one version.
func (s *Store) InstructionVersion(ctx context.Context, scope memory.Scope, name string, number int) (v memory.InstructionVersion, err error) {
	found, err := instructionVersions(ctx, s.pool, scope, name, `version = $5`, number)
	if err != nil || len(found) == 1 {
		return append(found, v)[0], err
	}
	return v, rowcodec.NoVersion(name, number)
}

// InstructionVersions pages through the versions, the newest first.
func (s *Store) InstructionVersions(ctx context.Context, scope memory.Scope, name string, below, limit int) ([]memory.InstructionVersion, error) {
	if below > 0 {
		return instructionVersions(ctx, s.pool, scope, name, `version < $5 ORDER BY version DESC LIMIT $6`, below, limit)
	}
	return instructionVersions(ctx, s.pool, scope, name, `true ORDER BY version DESC LIMIT $5`, limit)
}

// ActiveInstructions returns what a context of the user and agent shows.
func (s *Store) ActiveInstructions(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT i.app_id, i.scope, i.holder, i.name, v.version, v.content, v.note, v.published_at
		FROM (VALUES (0, 'app', ''), (1, 'agent', $2), (2, 'user', $3)) AS asked (rank, scope, holder)
		JOIN instructions i ON i.app_id = $1 AND i.scope = asked.scope AND i.holder = asked.holder AND i.active IS NOT NULL
		JOIN instruction_versions v ON v.app_id = i.app_id AND v.scope = i.scope AND v.holder = i.holder AND v.name = i.name AND v.version = i.active
		ORDER BY asked.rank, i.name`, appID, agentID, userID)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a memory.ActiveInstruction, err error) {
		return a, row.Scan(&a.AppID, &a.Kind, &a.ID, &a.Name, &a.Number, &a.Content, &a.Note, &a.PublishedAt)
	})
	return found, fault(err, "read the active instructions")
}

// InScope runs f in one transaction that holds the scope's lock, which is the
// owner's for a user's scope.
func (s *Store) InScope(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx db.InstructionTx) error) error {
	if scope.Kind == memory.UserScope {
		return s.InUser(ctx, scope.Owner(), func(ctx context.Context, tx db.UserTx) error {
			return f(ctx, &scopeTx{tx.(*userTx).tx, scope})
		})
	}
	lock := lockKey(rowcodec.ScopeOwner(scope))
	return again(ctx, func() error {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lock); err != nil {
				return err
			}
			return f(ctx, &scopeTx{tx, scope})
		})
		return fault(err, "change the instructions")
	})
}

// scopeTx is a db.InstructionTx: every statement names the scope.
type scopeTx struct {
	tx    session
	scope memory.Scope
}

// FindInstruction returns an instruction of the scope.
func (x *scopeTx) FindInstruction(ctx context.Context, name string) (memory.Instruction, bool, error) {
	return oneInstruction(ctx, x.tx, x.scope, name)
}

// CountActive is how many instructions of the scope are active.
func (x *scopeTx) CountActive(ctx context.Context) (n int, err error) {
	err = x.tx.QueryRow(ctx, `SELECT count(*) FROM instructions WHERE `+ofScope+` AND active IS NOT NULL`,
		x.scope.AppID, x.scope.Kind, x.scope.ID).Scan(&n)
	return n, fault(err, "count the active instructions")
}

// FindVersion returns a version of an instruction of the scope.
func (x *scopeTx) FindVersion(ctx context.Context, name string, number int) (v memory.InstructionVersion, ok bool, err error) {
	found, err := instructionVersions(ctx, x.tx, x.scope, name, `version = $5`, number)
	return append(found, v)[0], len(found) == 1, err
}

// PutInstruction stores a new or changed instruction.
func (x *scopeTx) PutInstruction(ctx context.Context, i memory.Instruction) error {
	if err := rowcodec.CheckInstruction(x.scope, i); err != nil {
		return err
	}
	_, err := x.tx.Exec(ctx, `
		INSERT INTO instructions (app_id, scope, holder, name, latest, active, earlier, changed_at)
		VALUES ($1, $2, $3, $4, $5, nullif($6::integer, 0), coalesce($7::integer[], '{}'), $8)
		ON CONFLICT (app_id, scope, holder, name) DO UPDATE
		SET latest = excluded.latest, active = excluded.active, earlier = excluded.earlier, changed_at = excluded.changed_at`,
		x.scope.AppID, x.scope.Kind, x.scope.ID, i.Name, i.Latest, i.Active, i.PreviouslyActive, i.ChangedAt)
	return fault(err, "store the instruction")
}

// AddVersion stores a version.
func (x *scopeTx) AddVersion(ctx context.Context, name string, v memory.InstructionVersion) error {
	_, err := x.tx.Exec(ctx, `
		INSERT INTO instruction_versions (app_id, scope, holder, name, version, content, note, published_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		x.scope.AppID, x.scope.Kind, x.scope.ID, name, v.Number, v.Content, v.Note, v.PublishedAt)
	return fault(err, "store the version of the instruction")
}
