package api

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/recall/related"
	"hippocampus/vectorstore"
)

type relatedAnswer struct {
	Memories []relatedBody
	Degraded []string
}

// related returns the contents of related memories, strongest first.
func (f *fixture) related(id, query string) (contents []string, answer relatedAnswer) {
	f.t.Helper()
	answer = fetch[relatedAnswer](f, 200, "GET", "/v1/memories/"+id+"/related?"+query, "")
	contents = []string{}
	last := 1.0
	for _, m := range answer.Memories {
		contents = append(contents, m.Memory.Content)
		doubt := 1.0
		for _, r := range m.Reasons {
			doubt *= 1 - r.Strength
		}
		if m.Score > last || len(m.Reasons) == 0 || m.Score != 1-doubt {
			f.t.Errorf("%s: score %v after %v for %+v", m.Memory.Content, m.Score, last, m.Reasons)
		}
		last = m.Score
	}
	return contents, answer
}

func why(m relatedBody) (list []related.Why) {
	for _, r := range m.Reasons {
		list = append(list, r.Why)
	}
	return list
}

func TestRelated_FindsMemories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	add := func(content string, change func(*ingest.Write)) memory.Memory {
		w := ingest.Write{Owner: owner("u"), Content: content, Domain: memory.GeneralChat}
		if change != nil {
			change(&w)
		}
		f.advance(time.Minute)
		return f.keep(w)
	}
	in := func(conversation string) func(*ingest.Write) {
		return func(w *ingest.Write) { w.ConversationID = conversation }
	}
	before := add("aaa", in("c"))
	m := add("the cat sleeps on the warm stove", func(w *ingest.Write) {
		w.ConversationID, w.Tags = "c",
			[]string{"pets", "home"}
	})
	after := add("bbb", in("c"))
	add("ccc", in("another"))
	tagged := add("ddd", func(w *ingest.Write) { w.Tags = []string{"pets"} })
	similar := add("the cat sleeps on the warm roof", nil)
	stated := add("eee", nil)
	add("the cat sleeps on the warm stove", func(w *ingest.Write) { w.Owner = owner("v") })
	secret := add("the cat sleeps on the warm oven", func(w *ingest.Write) { w.AgentID = "vet" })
	gone := add("the cat sleeps on the warm floor", in("c"))
	f.want(200, "DELETE", "/v1/memories/"+gone.ID, "")

	path := "/v1/memories/" + m.ID + "/relations"
	relation := fmt.Sprintf(`{"to":%q,"kind":"supports"}`, stated.ID)
	first := fetch[wire.Relation](f, 201, "POST", path, relation)
	f.advance(time.Hour)
	if again := fetch[wire.Relation](f, 200, "POST", path, relation); again != first || first.From != m.ID ||
		first.Kind != memory.Supports {
		t.Errorf("%+v, then %+v", first, again)
	}
	f.want(201, "POST", "/v1/memories/"+stated.ID+"/relations", fmt.Sprintf(`{"to":%q,"kind":"refines"}`, m.ID))

	contents, answer := f.related(m.ID, "limit=100")
	if !slices.Equal(contents[:3], []string{"eee", "the cat sleeps on the warm oven",
		"the cat sleeps on the warm roof"}) ||
		len(answer.Degraded) != 0 || slices.Contains(contents, m.Content) || slices.Contains(contents, gone.Content) ||
		slices.Contains(contents, "ccc") {
		t.Errorf("%q, degraded %q", contents, answer.Degraded)
	}
	for _, found := range answer.Memories {
		want := map[string][]related.Why{
			before.ID: {related.ByConversation}, after.ID: {related.ByConversation}, tagged.ID: {related.ByTags},
			similar.ID: {related.BySimilarity}, stated.ID: {related.ByRelation,
				related.ByRelation}, secret.ID: {related.BySimilarity},
		}[found.Memory.ID]
		if got := why(found); !slices.Equal(got[:len(want)], want) || len(got) > len(want) &&
			got[len(want)] != related.BySimilarity {
			t.Errorf("%s because of %q, want %q", found.Memory.Content, got, want)
		}
	}
	if few, _ := f.related(m.ID, "limit=2"); !slices.Equal(few, contents[:2]) {
		t.Errorf("two: %q", few)
	}

	for agent, sees := range map[string]bool{"vet": true, "cook": false} {
		if contents, _ := f.related(m.ID, "agent_id="+agent); slices.Contains(contents, secret.Content) != sees {
			t.Errorf("agent %s sees %q", agent, contents)
		}
	}
	if contents, _ := f.related(secret.ID, "agent_id=vet"); !slices.Contains(contents, m.Content) {
		t.Errorf("%q", contents)
	}
	f.want(404, "GET", "/v1/memories/"+secret.ID+"/related?agent_id=cook", "")
	f.want(404, "GET", "/v1/memories/"+someID+"/related", "")

	gonePath := path + "?kind=supports&to=" + stated.ID
	if removed := fetch[wire.Relation](f, 200, "DELETE", gonePath, ""); removed != first {
		t.Errorf("%+v", removed)
	}
	f.want(404, "DELETE", gonePath, "")
	_, answer = f.related(m.ID, "")
	if got := why(answer.Memories[0]); answer.Memories[0].Memory.ID != stated.ID || got[0] != related.ByRelation ||
		slices.Contains(got[1:], related.ByRelation) {
		t.Errorf("after one of two: %s because of %q", answer.Memories[0].Memory.Content, got)
	}
	// An inactive memory has no embedding to compare, but its other relations count.
	if contents, _ := f.related(gone.ID, ""); !slices.Equal(contents, []string{"bbb", m.Content, "aaa"}) {
		t.Errorf("of a forgotten one: %q", contents)
	}
}

// Memories of other agents neither displace those that an agent may see nor count
// towards their distances.
func TestRelated_HidesOtherAgents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	add := func(content, agent string) memory.Memory {
		f.advance(time.Minute)
		return f.keep(ingest.Write{Owner: owner("u"), Content: content, AgentID: agent, ConversationID: "c",
			Tags: []string{"pets"}, Domain: memory.GeneralChat})
	}
	shared := add("aaa", "")
	own := add("bbb", "cook")
	for i := range 100 { // the number that is examined by tags
		add(fmt.Sprintf("secret %d", i), "vet")
	}
	m := add("ccc", "cook")
	_, answer := f.related(m.ID, "limit=100&agent_id=cook")
	distances := map[string]int{}
	for _, found := range answer.Memories {
		if got := why(found); len(got) < 2 || got[0] != related.ByConversation || got[1] != related.ByTags {
			t.Errorf("%s because of %q", found.Memory.Content, got)
		}
		distances[found.Memory.ID] = found.Reasons[0].Distance
	}
	if len(distances) != 2 || distances[own.ID] != 1 || distances[shared.ID] != 2 {
		t.Errorf("distances %v, want %s: 1 and %s: 2", distances, own.ID, shared.ID)
	}
}

func TestRelated_ChecksRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	m := f.peanuts()
	other := f.keep(ingest.Write{Owner: owner("u"), Content: "other"})
	foreign := f.keep(ingest.Write{Owner: owner("v"), Content: "foreign"})
	path := "/v1/memories/" + m.ID + "/relations"
	body := func(to, kind string) string { return fmt.Sprintf(`{"to":%q,"kind":%q}`, to, kind) }
	f.wantPaths("POST", path, `{}`, "to", "kind")
	f.wantPaths("POST", path, body(other.ID, "derived_from"), "kind")
	f.wantPaths("POST", path, body("no id", "supports"), "to")
	f.wantPaths("POST", path, body(m.ID, "supports"), "to")
	f.wantPaths("POST", path, `{"to":"`+other.ID+`","kind":"supports","note":""}`, "note")
	f.want(404, "POST", path, body(foreign.ID, "supports"))
	f.want(404, "POST", path, body(someID, "supports"))
	f.want(404, "POST", "/v1/memories/"+someID+"/relations", body(other.ID, "supports"))
	f.wantPaths("DELETE", path, "", "query.to", "query.kind")
	f.want(400, "DELETE", path+"?kind=derived_from&to="+other.ID, "")
	f.want(404, "DELETE", path+"?kind=supports&to="+other.ID, "")
	f.want(404, "DELETE", "/v1/memories/"+someID+"/relations?kind=supports&to="+other.ID, "")
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "agent_id=%00", "cursor=x"} {
		f.want(400, "GET", "/v1/memories/"+m.ID+"/related?"+query, "")
	}
}

// unreachable is a vector store that cannot be reached.
type unreachable struct{}

func (unreachable) Search(context.Context, vectorstore.Query) ([]vectorstore.Hit, error) {
	return nil, memory.Errorf(memory.KindUnavailable, "unreachable")
}

func TestRelated_WithoutVectorStoreIsDegraded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.restart(func(o *Options) {
		settings := related.Settings{OwnWindow: time.Second, OwnLimit: 10, VectorTimeout: time.Minute}
		o.Related = related.New(f.store, unreachable{}, embedder, settings, f.now, o.Logger)
	})
	m := f.keep(ingest.Write{Owner: owner("u"), Content: "one", ConversationID: "c"})
	f.keep(ingest.Write{Owner: owner("u"), Content: "two", ConversationID: "c"})
	contents, answer := f.related(m.ID, "")
	if !slices.Equal(contents, []string{"two"}) || !slices.Equal(answer.Degraded, []string{"vector_store"}) {
		t.Errorf("%q, degraded %q", contents, answer.Degraded)
	}
}
