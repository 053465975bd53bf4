package proxy

import (
	"testing"
	"time"
)

func TestInjections_ForgetOldAndPurgedTexts(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	id, text := digest("ana"), known{text: remembered}
	i := NewInjections()
	i.keep(id, text, noon, 0)
	if found, ok, _ := i.find(id, noon.Add(injectionAge-time.Second)); !ok || found != text {
		t.Errorf("before its age: %v, %t", found, ok)
	}
	if _, ok, _ := i.find(id, noon.Add(injectionAge)); ok {
		t.Error("a text is found after its age")
	}
	i.keep(id, text, noon, 0)
	_, _, purges := i.find(id, noon)
	i.Purge()
	if _, ok, _ := i.find(id, noon); ok {
		t.Error("a text is found after a purge")
	}
	i.keep(id, text, noon, purges) // the memory was asked before the purge
	if _, ok, _ := i.find(id, noon); ok {
		t.Error("a text from before the purge is kept after it")
	}
}

// The requests that continue a message ask the memory again when the text is old, or was purged.
func TestProxy_AsksAgainAfterTheAgeAndAPurge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	injected := NewInjections()
	f := newFixture(t, func(o *Options) {
		o.Injected = injected
		o.Now = func() time.Time { return now }
	})
	f.answers("application/json", whole)
	const asked = `{"tools":[{}],"messages":[{"role":"user","content":"Do I need a coat?"}`
	const answered = asked + `,{"role":"tool","tool_call_id":"t1","content":"rain"}]}`
	for i, step := range []struct {
		body     string
		change   func()
		contexts int
	}{
		{asked + `]}`, func() {}, 1},
		{answered, func() { now = now.Add(time.Minute) }, 1},
		{answered, func() { now = now.Add(time.Minute) }, 2},
		{answered, func() {}, 2},
		{answered, injected.Purge, 3},
	} {
		step.change()
		f.post("chat/completions", step.body, headerUser, "ana")
		if len(f.contexts) != step.contexts {
			t.Errorf("after request %d the memory was asked %d times instead of %d", i, len(f.contexts), step.contexts)
		}
	}
}
