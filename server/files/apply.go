package files

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/memoryfile"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
	"hippocampus/server/loopback"
)

// maxMemories bounds the memories of a file, so that a request's work is bounded.
const maxMemories = 5000

// Bounds of /v1.
const (
	batchItems  = 200 // of 1,000, which leaves time for their embeddings
	forgetItems = 500
)

// list reads the memories that the file of a scope shows.
func (s server) list(ctx context.Context, of scope) ([]memoryfile.Memory, error) {
	all, err := s.instructions(ctx, of)
	if err != nil {
		return nil, err
	}
	query := url.Values{"user_id": {of.user}, "limit": {fmt.Sprint(memory.MaxPage)}}
	if of.agent != "" {
		query.Set("agent_id", of.agent)
	}
	for _, kind := range s.form.Types() {
		query.Add("type", string(kind))
	}
	for {
		var page struct {
			Memories []wire.Memory `json:"memories"`
			Next     string        `json:"next_cursor"`
		}
		if err := s.call(ctx, http.MethodGet, "/v1/memories?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Memories {
			if m.AgentID == of.agent {
				all = append(all, memoryfile.Memory{ID: m.ID, Type: m.Type, Content: m.Content})
			}
		}
		switch {
		case len(all) > maxMemories:
			return nil, memory.Errorf(memory.KindConflict,
				"the user has more than %d memories, which a file cannot show: use GET /v1/memories", maxMemories)
		case page.Next == "":
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
}

// apply executes a plan: it adds first and forgets last. A repeated request continues after a failure.
func (s server) apply(
	ctx context.Context, of scope, plan memoryfile.Plan, present []memoryfile.Memory, confirmed bool,
) (report, error) {
	done := newReport()
	if err := check(of, plan); err != nil {
		return done, err
	}
	if !plan.Stale && !confirmed && len(plan.Missing) > 0 {
		return done, memory.Errorf(memory.KindConflict, "the file leaves out %d memories, more than %d and than a fifth: "+
			"nothing was changed; confirm=true (--yes) forgets them", len(plan.Missing), memoryfile.FreeForget)
	}
	done.Shown = append(done.Shown, plan.Missing...)
	add := plan.Add
	for _, c := range plan.Change {
		err := s.change(ctx, of, c, &done)
		if refused := (*memory.Error)(nil); errors.As(err, &refused) &&
			(refused.Kind == memory.KindConflict || refused.Kind == memory.KindNotFound) {
			if c.Text != nil { // it was forgotten after the list was read
				c.Bullet.Split()
				add = append(add, c.Bullet)
			}
			continue
		}
		if err != nil {
			return done, err
		}
		done.Changed = append(done.Changed, c.Bullet.ID)
	}
	add, err := s.publishNew(ctx, of, add, present, &done)
	if err != nil {
		return done, err
	}
	for len(add) > 0 {
		n := min(len(add), batchItems)
		if err := s.add(ctx, of, add[:n], &done); err != nil {
			return done, err
		}
		add = add[n:]
	}
	memories, err := s.retire(ctx, of, plan.Forget, &done)
	if err != nil {
		return done, err
	}
	err = s.forget(ctx, memories, &done)
	return done, err
}

// check names the bullets that cannot be stored.
func check(of scope, plan memoryfile.Plan) error {
	var faults memory.Fields
	note := func(b *memoryfile.Bullet) {
		most := memory.MaxContentRunes
		if _, is := memoryfile.NameOfInstruction(b.ID); is || b.ID == "" && b.Type == memoryfile.Instruction {
			most = memory.MaxInstruction
		}
		faults.Add(fmt.Sprintf("line %d", b.Line), memory.CheckContent(b.Text, most))
	}
	for _, b := range plan.Add {
		note(b)
		if b.Type == memoryfile.Instruction && of.agent != "" {
			faults.Add(fmt.Sprintf("line %d", b.Line), "is an instruction, which belongs to the user and to no agent: move it "+
				"to the file of no agent")
		}
	}
	for _, c := range plan.Change {
		if c.Text != nil {
			note(c.Bullet)
		}
	}
	if len(faults) > 0 {
		return memory.Invalid(faults...)
	}
	return nil
}

func (s server) change(ctx context.Context, of scope, c memoryfile.Change, done *report) error {
	if name, is := memoryfile.NameOfInstruction(c.Bullet.ID); is {
		return s.publish(ctx, of, name, c.Bullet.Text, done)
	}
	body := map[string]any{}
	if c.Text != nil {
		body["content"] = *c.Text
	}
	if c.Type != nil {
		body["type"] = *c.Type
	}
	var answer written
	err := s.call(ctx, http.MethodPatch, "/v1/memories/"+c.Bullet.ID, body, &answer)
	done.Secrets += len(answer.Secrets)
	return err
}

// add writes memories for bullets and sets the bullets' ids.
func (s server) add(ctx context.Context, of scope, bullets []*memoryfile.Bullet, done *report) error {
	items := make([]map[string]any, len(bullets))
	for i, b := range bullets {
		items[i] = map[string]any{
			"user_id": of.user, "content": b.Text, "type": b.Type, "importance": 1,
			"metadata": map[string]string{"source": "file"},
		}
		if of.agent != "" {
			items[i]["agent_id"] = of.agent
		}
		if b.Rival() != "" {
			items[i]["dedup"] = false // both texts stay, for the user to choose
		}
	}
	var answer struct {
		Results []struct {
			written
			ID    string         `json:"id"`
			Error *frame.Problem `json:"error"`
		} `json:"results"`
	}
	err := s.call(ctx, http.MethodPost, "/v1/memories/batch", map[string]any{"memories": items}, &answer)
	if err != nil {
		return err
	}
	for i, result := range answer.Results {
		if result.Error != nil {
			return fmt.Errorf("line %d: %w", bullets[i].Line, errorOf(*result.Error, ""))
		}
		done.add(bullets[i], result.ID)
		done.Secrets += len(result.Secrets)
	}
	return nil
}

func (s server) forget(ctx context.Context, ids []string, done *report) error {
	for len(ids) > 0 {
		n := min(len(ids), forgetItems)
		var answer struct {
			Results []struct {
				ID    string         `json:"id"`
				Error *frame.Problem `json:"error"`
			} `json:"results"`
		}
		err := s.call(ctx, http.MethodPost, "/v1/memories/forget", map[string]any{"ids": ids[:n]}, &answer)
		if err != nil {
			return err
		}
		for _, result := range answer.Results {
			if result.Error == nil {
				done.Forgotten = append(done.Forgotten, result.ID)
			} else if result.Error.Status != http.StatusNotFound {
				return errorOf(*result.Error, "")
			}
		}
		ids = ids[n:]
	}
	return nil
}

// call sends a request to /v1. A refusal becomes an error of its kind.
func (s server) call(ctx context.Context, method, path string, body, into any) error {
	err := loopback.Call(ctx, s.v1, method, path, body, into)
	var refusal *loopback.Refusal
	if errors.As(err, &refusal) && refusal.Problem.Type != "" {
		return errorOf(refusal.Problem, refusal.Header.Get("Retry-After"))
	}
	return err
}

// errorOf is the error of a problem document.
func errorOf(p frame.Problem, retryAfter string) error {
	known := &memory.Error{
		Kind: p.Kind(), Err: errors.New(p.Detail), Fields: p.Errors,
	}
	if wait, err := time.ParseDuration(retryAfter + "s"); err == nil {
		known.RetryAfter = wait
	}
	return known
}
