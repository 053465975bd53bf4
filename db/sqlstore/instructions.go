package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const selectInstructions = `SELECT app_id, scope, holder, name, latest, coalesce(active, 0),
	nullif(earlier, {ARRAY[]::integer[]|'[]'}), changed_at FROM instructions WHERE `

func instructionFields(i *memory.Instruction) []any {
	return []any{&i.AppID, &i.Kind, &i.ID, &i.Name, &i.Latest, &i.Active, &i.PreviouslyActive, &i.ChangedAt}
}

// ofScope is the condition of a scope's rows, on the parameters $1 to $3.
const ofScope = `app_id = $1 AND scope = $2 AND holder = $3`

func (s *Store) ListInstructions(
	ctx context.Context, scope memory.Scope, after string, limit int,
) ([]memory.Instruction, error) {
	found, err := collect(ctx, s.conn, instructionFields,
		selectInstructions+ofScope+` AND name > $4 ORDER BY name LIMIT $5`,
		scope.AppID, scope.Kind, scope.ID, after, limit)
	return found, s.fault(err, "list the instructions")
}

func (s *Store) FindInstruction(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error) {
	i, ok, err := (&scopeTx{s.conn, scope}).FindInstruction(ctx, name)
	return i, s.require(ok, err, "", NotFound("instruction", name))
}

func (s *Store) InstructionVersion(
	ctx context.Context, scope memory.Scope, name string, number int,
) (memory.InstructionVersion, error) {
	v, ok, err := (&scopeTx{s.conn, scope}).FindVersion(ctx, name, number)
	return v, s.require(ok, err, "", noVersion(name, number))
}

// noVersion is the error for a version that an instruction does not have.
func noVersion(name string, number int) error {
	return memory.Errorf(memory.KindNotFound,
		"there is no version %d of an instruction %q: list its versions", number, rowcodec.Storable(name))
}

func (s *Store) InstructionVersions(
	ctx context.Context, scope memory.Scope, name string, below, limit int,
) ([]memory.InstructionVersion, error) {
	if below > 0 {
		return (&scopeTx{s.conn, scope}).versions(ctx, name, `version < $5 ORDER BY version DESC LIMIT $6`, below, limit)
	}
	return (&scopeTx{s.conn, scope}).versions(ctx, name, `true ORDER BY version DESC LIMIT $5`, limit)
}

func (s *Store) ActiveInstructions(
	ctx context.Context, appID, agentID, userID string,
) ([]memory.ActiveInstruction, error) {
	found, err := collect(ctx, s.conn, func(a *memory.ActiveInstruction) []any {
		return []any{&a.AppID, &a.Kind, &a.ID, &a.Name, &a.Number, &a.Content, &a.Note, &a.PublishedAt}
	}, `
		WITH asked (rank, scope, holder) AS (VALUES (0, 'app', ''), (1, 'agent', $2), (2, 'user', $3))
		SELECT i.app_id, i.scope, i.holder, i.name, v.version, v.content, v.note, v.published_at
		FROM asked
		{JOIN instructions i|CROSS JOIN instructions i INDEXED BY instructions_active}
			ON i.app_id = $1 AND i.scope = asked.scope AND i.holder = asked.holder AND i.active IS NOT NULL
		{|CROSS }JOIN instruction_versions v
			ON v.app_id = i.app_id AND v.scope = i.scope AND v.holder = i.holder AND v.name = i.name AND v.version = i.active
		ORDER BY asked.rank, i.name`, appID, agentID, userID)
	return found, s.fault(err, "read the active instructions")
}

func (s *Store) ExportInstructions(
	ctx context.Context, of db.Extent, after *memory.Instruction,
) ([]memory.Instruction, error) {
	var where Conditions
	where.Add(`app_id = ?`, of.AppID)
	if of.UserID != "" {
		where.Add(`scope = 'user' AND holder = ?`, of.UserID)
	}
	if a := after; a != nil {
		where.Add(`(scope, holder, name) > (?, ?, ?)`, a.Kind, a.Scope.ID, a.Name)
	}
	found, err := page(ctx, s.conn, instructionFields, selectInstructions, where, `scope, holder, name`, of.Limit)
	return found, s.fault(err, "export the instructions")
}

func (s *Store) InScope(
	ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx db.InstructionTx) error,
) error {
	if scope.Kind == memory.UserScope {
		return s.db.InUser(ctx, scope.Owner(), func(ctx context.Context, tx db.UserTx) error {
			return f(ctx, &scopeTx{tx.(interface{ shared() conn }).shared(), scope})
		})
	}
	var refused error
	err := s.transact(ctx, func(tx tx) error {
		refused = nil
		if err := tx.lock(ctx, rowcodec.OwnerLock(scopeOwner(scope))); err != nil {
			return err
		}
		refused = f(ctx, &scopeTx{tx.conn, scope})
		return refused
	})
	if refused != nil {
		return refused
	}
	return s.fault(err, "change the instructions")
}

// scopeOwner is the owner that stands for a scope of an app or agent. It equals no
// user, since the ids of users hold no control characters.
func scopeOwner(scope memory.Scope) memory.Owner {
	return memory.Owner{AppID: scope.AppID, UserID: "\x00" + string(scope.Kind) + "\x00" + scope.ID}
}

// scopeTx is a db.InstructionTx: every statement names the scope.
type scopeTx struct {
	conn
	scope memory.Scope
}

func (x *scopeTx) State(ctx context.Context) (db.UserState, error) {
	if x.scope.Kind != memory.UserScope {
		return db.UserState{}, nil
	}
	return state(ctx, x.conn, x.scope.Owner())
}

// versions runs a query for the versions of an instruction.
func (x *scopeTx) versions(ctx context.Context, name, where string, args ...any) ([]memory.InstructionVersion, error) {
	found, err := collect(ctx, x.conn, func(v *memory.InstructionVersion) []any {
		return []any{&v.Number, &v.Content, &v.Note, &v.PublishedAt, (*jsonArray[memory.Ground])(&v.Grounds),
			&v.Before.Successes, &v.Before.Failures, &v.After.Successes, &v.After.Failures}
	}, `SELECT version, content, note, published_at, coalesce(grounds, '[]'), successes_before, failures_before,
		successes, failures FROM instruction_versions WHERE `+ofScope+` AND name = $4 AND `+where,
		append([]any{x.scope.AppID, x.scope.Kind, x.scope.ID, name}, args...)...)
	return found, x.fault(err, "read the versions of the instruction")
}

func (x *scopeTx) FindInstruction(ctx context.Context, name string) (i memory.Instruction, ok bool, err error) {
	i, ok, err = first(ctx, x.conn, instructionFields, selectInstructions+ofScope+` AND name = $4`,
		x.scope.AppID, x.scope.Kind, x.scope.ID, name)
	return i, ok, x.fault(err, "read the instruction")
}

func (x *scopeTx) CountActive(ctx context.Context) (int, error) {
	n, _, err := first(ctx, x.conn, only[int],
		`SELECT count(*) FROM instructions WHERE `+ofScope+` AND active IS NOT NULL`,
		x.scope.AppID, x.scope.Kind, x.scope.ID)
	return n, x.fault(err, "count the active instructions")
}

func (x *scopeTx) FindVersion(
	ctx context.Context, name string, number int,
) (v memory.InstructionVersion, ok bool, err error) {
	found, err := x.versions(ctx, name, `version = $5`, number)
	return append(found, v)[0], len(found) == 1, err
}

func (x *scopeTx) PutInstruction(ctx context.Context, i memory.Instruction) error {
	if i.Scope != x.scope {
		return memory.Errorf(memory.KindNotFound,
			"instruction %q is of another scope than the transaction: open one for its scope", rowcodec.Storable(i.Name))
	}
	_, err := x.exec(ctx, `
		INSERT INTO instructions (app_id, scope, holder, name, latest, active, earlier, changed_at)
		VALUES ($1, $2, $3, $4, $5, nullif($6::integer, 0), $7, $8)
		ON CONFLICT (app_id, scope, holder, name) DO UPDATE
		SET latest = excluded.latest, active = excluded.active, earlier = excluded.earlier, changed_at = excluded.changed_at`,
		x.scope.AppID, x.scope.Kind, x.scope.ID, i.Name, i.Latest, i.Active, append([]int{}, i.PreviouslyActive...),
		i.ChangedAt)
	return x.fault(err, "store the instruction")
}

func (x *scopeTx) AddVersion(ctx context.Context, name string, v memory.InstructionVersion) error {
	_, err := x.exec(ctx, `
		INSERT INTO instruction_versions (app_id, scope, holder, name, version, content, note, published_at, grounds,
			successes_before, failures_before, successes, failures)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		x.scope.AppID, x.scope.Kind, x.scope.ID, name, v.Number, v.Content, v.Note, v.PublishedAt, groundsJSON(v.Grounds),
		v.Before.Successes, v.Before.Failures, v.After.Successes, v.After.Failures)
	return x.fault(err, "store the version of the instruction")
}
