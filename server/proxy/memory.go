package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
	"hippocampus/server/loopback"
)

// writeTimeout bounds the writing of a turn, which the client has to wait for at the end of the answer only.
const writeTimeout = 10 * time.Second

// known is what the memory returns for a request.
type known struct {
	text     string
	memories string // ids of the first 20, with commas between them
	tokens   string // of the text
}

// shownIDs is how many ids of memories an answer has at most.
const shownIDs = 20

// assembled is the answer of /v1/context.
type assembled struct {
	Text     string `json:"text"`
	Memories []struct {
		ID string `json:"id"`
	} `json:"memories"`
	Size struct {
		Used int `json:"used"`
	} `json:"size"`
}

func (a assembled) known() known {
	ids := []string{}
	for _, m := range a.Memories[:min(len(a.Memories), shownIDs)] {
		ids = append(ids, m.ID)
	}
	return known{a.Text, strings.Join(ids, ","), strconv.Itoa(a.Size.Used)}
}

// contextFor returns the text that is to be injected.
func (p *proxy) contextFor(ctx context.Context, s scope, r *request) (known, error) {
	id := digest(s.App, s.Key, s.User, s.Conversation, s.Agent, string(r.prefix))
	asked := p.Now()
	found, isKept, purges := p.Injected.find(id, asked)
	if r.goesOn && isKept {
		return found, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, errLate)
	defer cancel()
	var answer assembled
	ask := map[string]any{
		"user_id": s.User, "query": r.query, "max_tokens": p.MaxTokens, "present": r.present, "condense": false,
		"touch": !r.goesOn,
	}
	if r.previous != "" {
		ask["previous"] = r.previous
	}
	if s.Conversation != "" { // for how much of memory is on for it: the request has its messages
		ask["conversation_id"], ask["working_memory"] = s.Conversation, false
	}
	if s.Agent != "" {
		ask["agent_id"] = s.Agent
	}
	if err := loopback.Call(ctx, p.v1, http.MethodPost, "/v1/context", ask, &answer); err != nil {
		return known{}, errors.Join(err, context.Cause(ctx))
	}
	found = answer.known()
	if r.offersTools() {
		p.Injected.keep(id, found, asked, purges)
	}
	return found, nil
}

var errLate = errors.New("memory needed more than proxy.timeout")

// reasonOf names the error of memory in one word, for a header.
func reasonOf(err error) string {
	var refused *loopback.Refusal
	switch {
	case errors.Is(err, errLate):
		return "timeout"
	case errors.As(err, &refused):
		return "status-" + strconv.Itoa(refused.Status)
	}
	return "failed"
}

// busyFor returns how long a server that is busy asks to wait before the request is repeated.
func busyFor(err error) (wait time.Duration, busy bool) {
	var refused *loopback.Refusal
	if !errors.As(err, &refused) || refused.Problem.Kind() != memory.KindBusy {
		return 0, false
	}
	seconds, err := strconv.Atoi(refused.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}

// write stores a turn. Its id depends on the request and the day, so that a repeated request is one turn. Nobody else
// would send the turn again, so that write does while the server is busy.
func (p *proxy) write(ctx context.Context, c *call, said message) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	turn := map[string]any{"id": c.turn, "user_id": c.scope.User, "messages": append(c.said, said.admitted())}
	if c.scope.Conversation != "" {
		turn["conversation_id"] = c.scope.Conversation
	}
	if c.scope.Agent != "" {
		turn["agent_id"] = c.scope.Agent
	}
	send := func() error { return loopback.Call(ctx, p.v1, http.MethodPost, "/v1/turns", turn, nil) }
	err := send()
	for wait, busy := busyFor(err); busy; wait, busy = busyFor(err) {
		select {
		case <-time.After(wait):
			err = send()
			continue
		case <-ctx.Done():
		}
		break
	}
	var refused *loopback.Refusal
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return // the request was repeated, and the model answered in other words
	}
	if err != nil {
		p.Log.Warn("an answer is not remembered", zap.String("turn", c.turn), zap.Error(err))
	}
}

// turnID returns a client id that depends on the scope, the day and the body of a request.
func turnID(s scope, at time.Time, body []byte) string {
	id := digest(s.App, s.User, s.Conversation, s.Agent, at.UTC().Format(time.DateOnly), string(body))
	return "proxy-" + hex.EncodeToString(id[:16])
}

// digest is a hash of a list of texts, which depends on where each of them ends.
func digest(texts ...string) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	h.Sum(sum[:0])
	return sum
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64)
}
