package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const instructionColumns = `app_id, scope, holder, name, latest, coalesce(active, 0), earlier, changed_at`

func instructionFields(i *memory.Instruction) []any {
	return []any{&i.AppID, &i.Kind, &i.ID, &i.Name, &i.Latest, &i.Active, (*numberList)(&i.PreviouslyActive), (*instant)(&i.ChangedAt)}
}

// numberList is a JSON array; nil for an empty one.
type numberList []int

func (l *numberList) Scan(column any) error {
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("a list of numbers is a %T", column)
	}
	*l = nil
	if text == "[]" {
		return nil
	}
	return json.Unmarshal([]byte(text), (*[]int)(l))
}

// ofScope is the condition of a scope's rows.
const ofScope = `app_id = ? AND scope = ? AND holder = ?`

func oneInstruction(ctx context.Context, q querier, scope memory.Scope, name string) (i memory.Instruction, ok bool, err error) {
	i, err = one(ctx, q, instructionFields, `SELECT `+instructionColumns+` FROM instructions WHERE `+ofScope+` AND name = ?`,
		scope.AppID, scope.Kind, scope.ID, name)
	if errors.Is(err, sql.ErrNoRows) {
		return i, false, nil
	}
	return i, err == nil, fault(err, "read the instruction")
}

// ListInstructions pages through a scope's instructions by name.
func (s *Store) ListInstructions(ctx context.Context, scope memory.Scope, after string, limit int) ([]memory.Instruction, error) {
	found, err := collect(ctx, s.reader, instructionFields, `SELECT `+instructionColumns+` FROM instructions
		WHERE `+ofScope+` AND name > ? ORDER BY name LIMIT ?`, scope.AppID, scope.Kind, scope.ID, after, limit)
	return found, fault(err, "list the instructions")
}

// FindInstruction returns an instruction of a scope.
func (s *Store) FindInstruction(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error) {
	i, ok, err := oneInstruction(ctx, s.reader, scope, name)
	if err == nil && !ok {
		err = notFound("instruction", name)
	}
	return i, err
}

// instructionVersions runs a query for the columns of a version.
func instructionVersions(ctx context.Context, q querier, scope memory.Scope, name, where string, args ...any) ([]memory.InstructionVersion, error) {
	found, err := collect(ctx, q, func(v *memory.InstructionVersion) []any {
		return []any{&v.Number, &v.Content, &v.Note, (*instant)(&v.PublishedAt)}
	}, `SELECT version, content, note, published_at FROM instruction_versions WHERE `+ofScope+` AND name = ? AND `+where,
		append([]any{scope.AppID, scope.Kind, scope.ID, name}, args...)...)
	return found, fault(err, "read the versions of the instruction")
}

// InstructionVersion returns one version.
func (s *Store) InstructionVersion(ctx context.Context, scope memory.Scope, name string, number int) (v memory.InstructionVersion, err error) {
	found, err := instructionVersions(ctx, s.reader, scope, name, `version = ?`, number)
	if err != nil || len(found) == 1 {
		return append(found, v)[0], err
	}
	return v, rowcodec.NoVersion(name, number)
}

// InstructionVersions pages through the versions, the newest first.
func (s *Store) InstructionVersions(ctx context.Context, scope memory.Scope, name string, below, limit int) ([]memory.InstructionVersion, error) {
	if below > 0 {
		return instructionVersions(ctx, s.reader, scope, name, `version < ? ORDER BY version DESC LIMIT ?`, below, limit)
	}
	return instructionVersions(ctx, s.reader, scope, name, `true ORDER BY version DESC LIMIT ?`, limit)
}

// ActiveInstructions returns what a context of the user and agent shows.
func (s *Store) ActiveInstructions(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error) {
	found, err := collect(ctx, s.reader, func(a *memory.ActiveInstruction) []any {
		return []any{&a.AppID, &a.Kind, &a.ID, &a.Name, &a.Number, &a.Content, &a.Note, (*instant)(&a.PublishedAt)}
	}, `
		WITH asked (rank, scope, holder) AS (VALUES (0, 'app', ''), (1, 'agent', ?2), (2, 'user', ?3))
		SELECT i.app_id, i.scope, i.holder, i.name, v.version, v.content, v.note, v.published_at
		FROM asked
		CROSS JOIN instructions i INDEXED BY instructions_active ON i.app_id = ?1 AND i.scope = asked.scope AND i.holder = asked.holder AND i.active IS NOT NULL
		CROSS JOIN instruction_versions v ON v.app_id = i.app_id AND v.scope = i.scope AND v.holder = i.holder AND v.name = i.name AND v.version = i.active
		ORDER BY asked.rank, i.name`, appID, agentID, userID)
	return found, fault(err, "read the active instructions")
}

// InScope runs f in one transaction, which holds the write lock of every scope.
func (s *Store) InScope(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx db.InstructionTx) error) error {
	if scope.Kind == memory.UserScope {
		return s.InUser(ctx, scope.Owner(), func(ctx context.Context, tx db.UserTx) error {
			return f(ctx, &scopeTx{tx.(*userTx).tx, scope})
		})
	}
	var refused error
	err := s.write(ctx, func(tx *sql.Tx) error {
		refused = f(ctx, &scopeTx{tx, scope})
		return refused
	})
	if refused != nil {
		return refused
	}
	return fault(err, "change the instructions")
}

// scopeTx is a db.InstructionTx: every statement names the scope.
type scopeTx struct {
	tx    *sql.Tx
	scope memory.Scope
}

// FindInstruction returns an instruction of the scope.
func (x *scopeTx) FindInstruction(ctx context.Context, name string) (memory.Instruction, bool, error) {
	return oneInstruction(ctx, x.tx, x.scope, name)
}

// CountActive is how many instructions of the scope are active.
func (x *scopeTx) CountActive(ctx context.Context) (int, error) {
	n, err := one(ctx, x.tx, func(n *int) []any { return []any{n} }, `SELECT count(*) FROM instructions WHERE `+ofScope+` AND active IS NOT NULL`,
		x.scope.AppID, x.scope.Kind, x.scope.ID)
	return n, fault(err, "count the active instructions")
}

// FindVersion returns a version of an instruction of the scope.
func (x *scopeTx) FindVersion(ctx context.Context, name string, number int) (v memory.InstructionVersion, ok bool, err error) {
	found, err := instructionVersions(ctx, x.tx, x.scope, name, `version = ?`, number)
	return append(found, v)[0], len(found) == 1, err
}

// PutInstruction stores a new or changed instruction.
func (x *scopeTx) PutInstruction(ctx context.Context, i memory.Instruction) error {
	if err := rowcodec.CheckInstruction(x.scope, i); err != nil {
		return err
	}
	before, _ := json.Marshal(append([]int{}, i.PreviouslyActive...)) // numbers only: cannot fail
	_, err := x.tx.ExecContext(ctx, `
		INSERT INTO instructions (app_id, scope, holder, name, latest, active, earlier, changed_at)
		VALUES (?, ?, ?, ?, ?, nullif(?, 0), ?, ?)
		ON CONFLICT (app_id, scope, holder, name) DO UPDATE
		SET latest = excluded.latest, active = excluded.active, earlier = excluded.earlier, changed_at = excluded.changed_at`,
		x.scope.AppID, x.scope.Kind, x.scope.ID, i.Name, i.Latest, i.Active, string(before), moment(i.ChangedAt))
	return fault(err, "store the instruction")
}

// AddVersion stores a version.
func (x *scopeTx) AddVersion(ctx context.Context, name string, v memory.InstructionVersion) error {
	_, err := x.tx.ExecContext(ctx, `
		INSERT INTO instruction_versions (app_id, scope, holder, name, version, content, note, published_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		x.scope.AppID, x.scope.Kind, x.scope.ID, name, v.Number, v.Content, v.Note, moment(v.PublishedAt))
	return fault(err, "store the version of the instruction")
}
