package sqlstore

import (
	"context"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// removed stands for the text of a version that has lost its last line.
const removed = "[removed]"

// groundsJSON is the column for the grounds of a version; nil without grounds.
func groundsJSON(grounds []memory.Ground) any {
	if len(grounds) == 0 {
		return nil
	}
	return arrayJSON(grounds)
}

// grounded returns the versions of a user's instructions that have grounds.
func (c conn) grounded(ctx context.Context, owner memory.Owner) ([]memory.ActiveInstruction, error) {
	return collect(ctx, c, func(v *memory.ActiveInstruction) []any {
		return []any{&v.Name, &v.Number, &v.Content, (*jsonArray[memory.Ground])(&v.Grounds)}
	}, `SELECT name, version, content, grounds FROM instruction_versions
		{|INDEXED BY instruction_versions_grounded }WHERE app_id = $1 AND scope = 'user' AND holder = $2
			AND grounds IS NOT NULL ORDER BY name, version`, owner.AppID, owner.UserID)
}

func (s *Store) LostGrounds(ctx context.Context, owner memory.Owner) ([]string, error) {
	versions, err := s.conn.grounded(ctx, owner)
	var ids []string
	for _, v := range versions {
		for _, g := range v.Grounds {
			ids = append(ids, g.Memories...)
		}
	}
	if err == nil && len(ids) > 0 {
		ids, err = collect(ctx, s.conn, only[string], `SELECT id FROM agent_memories
			WHERE id = ANY($3::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2
				AND (status = 'superseded' OR status = 'forgotten' AND NOT faded)`, owner.AppID, owner.UserID, validIDs(ids))
	}
	return ids, s.fault(err, "look for lost grounds of instructions")
}

func (u *UserTx) RemoveLines(ctx context.Context, memoryIDs []string) error {
	if len(memoryIDs) == 0 {
		return nil
	}
	versions, err := u.conn.grounded(ctx, u.Owner)
	if err != nil {
		return u.fault(err, "read the grounds of instructions")
	}
	scope := memory.Scope{AppID: u.Owner.AppID, Kind: memory.UserScope, ID: u.Owner.UserID}
	x := &scopeTx{u.conn, scope}
	for _, v := range versions {
		if !removeLines(&v.InstructionVersion, memoryIDs) {
			continue
		}
		if _, err := u.exec(ctx, `UPDATE instruction_versions SET content = $6, grounds = $7
			WHERE `+ofScope+` AND name = $4 AND version = $5`,
			scope.AppID, scope.Kind, scope.ID, v.Name, v.Number, v.Content, groundsJSON(v.Grounds)); err != nil {
			return u.fault(err, "remove lines of instructions")
		}
		if v.Content == removed {
			if err := x.withdraw(ctx, v.Name, v.Number); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeLines removes the lines of a version that rest on memories, and reports whether there were any.
func removeLines(v *memory.InstructionVersion, memoryIDs []string) bool {
	lines, before := strings.Split(v.Content, "\n"), len(v.Grounds)
	v.Grounds = slices.DeleteFunc(v.Grounds, func(g memory.Ground) bool {
		lost := slices.ContainsFunc(g.Memories, func(id string) bool { return slices.Contains(memoryIDs, id) })
		if i := slices.Index(lines, g.Line); lost && i >= 0 {
			lines = slices.Delete(lines, i, i+1)
		}
		return lost
	})
	if v.Content = strings.Join(lines, "\n"); strings.TrimSpace(v.Content) == "" {
		v.Content = removed
	}
	return len(v.Grounds) < before
}

// withdraw takes a version out of use.
func (x *scopeTx) withdraw(ctx context.Context, name string, number int) error {
	i, ok, err := x.FindInstruction(ctx, name)
	if err != nil || !ok {
		return err
	}
	i.PreviouslyActive = slices.DeleteFunc(i.PreviouslyActive, func(n int) bool { return n == number })
	if i.Active == number {
		i.Active = 0
	}
	return x.PutInstruction(ctx, i)
}

func (u *UserTx) CountOutcome(
	ctx context.Context, names []string, success bool,
) ([]memory.ActiveInstruction, error) {
	column := "failures"
	if success {
		column = "successes"
	}
	found, err := collect(ctx, u.conn, func(v *memory.ActiveInstruction) []any { return []any{&v.Name, &v.Number} }, `
		UPDATE instruction_versions AS v SET `+column+` = v.`+column+` + 1 FROM instructions AS i
		WHERE i.app_id = $1 AND i.scope = 'user' AND i.holder = $2 AND i.name = ANY($3::text[])
			AND v.app_id = i.app_id AND v.scope = i.scope AND v.holder = i.holder AND v.name = i.name
			AND v.version = i.active RETURNING {v.|}name, {v.|}version`, u.Owner.AppID, u.Owner.UserID, names)
	slices.SortFunc(found, func(a, b memory.ActiveInstruction) int { return strings.Compare(a.Name, b.Name) })
	return found, u.fault(err, "count the outcome for instructions")
}

func (x *scopeTx) Outcomes(ctx context.Context, skill string) (memory.Outcomes, error) {
	var where Conditions
	where.Add(`app_id = ? AND user_id = ?`, x.scope.AppID, x.scope.ID)
	if skill != "" {
		where.Add(`name = ?`, skill)
	}
	o, _, err := first(ctx, x.conn, func(o *memory.Outcomes) []any { return []any{&o.Successes, &o.Failures} },
		`SELECT coalesce(sum(successes), 0), coalesce(sum(failures), 0) FROM skills WHERE `+where.SQL(), where.Args...)
	return o, x.fault(err, "count the outcomes")
}
