package api

import (
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

func TestRetention_ShowsWhatAnAccessDoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	old, pinned := f.fading()
	o := fetch[outlookBody](f, 200, "GET", "/v1/memories/"+old.ID+"/retention", "")
	if !o.At.Equal(noon) || o.Threshold != 0.1 || o.Exempt || len(o.Left.Points) != len(o.Accessed.Points) {
		t.Fatalf("%+v", o)
	}
	left, accessed := o.Left.Points[0], o.Accessed.Points[0]
	if left.Retention >= 0.1 || accessed.Retention < 0.5 || !left.At.Equal(noon) || !accessed.At.Equal(noon) {
		t.Errorf("now %+v, and accessed %+v", left, accessed)
	}
	if !o.Left.FadesAt.Before(noon) || !o.Accessed.FadesAt.After(noon.AddDate(0, 0, 10)) {
		t.Errorf("it fades at %v, and accessed at %v", o.Left.FadesAt, o.Accessed.FadesAt)
	}
	o = fetch[outlookBody](f, 200, "GET", "/v1/memories/"+pinned.ID+"/retention", "")
	if !o.Exempt || !o.Left.FadesAt.IsZero() || !o.Accessed.FadesAt.IsZero() {
		t.Errorf("a pinned memory: %+v", o)
	}
	f.want(404, "GET", "/v1/memories/"+someID+"/retention", "")
}

func TestRelations_AreListedInBothDirections(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	a := f.keep(ingest.Write{Owner: owner("u"), Content: "Likes tea."})
	b := f.keep(ingest.Write{Owner: owner("u"), Content: "Likes green tea."})
	type relations struct{ Relations []wire.Relation }
	if got := fetch[relations](f, 200, "GET", "/v1/memories/"+a.ID+"/relations", ""); len(got.Relations) != 0 {
		t.Errorf("a memory without relations has %+v", got)
	}
	f.want(201, "POST", "/v1/memories/"+b.ID+"/relations", `{"to":"`+a.ID+`","kind":"refines"}`)
	f.want(200, "DELETE", "/v1/memories/"+a.ID, "")
	for _, id := range []string{a.ID, b.ID} {
		got := fetch[relations](f, 200, "GET", "/v1/memories/"+id+"/relations", "").Relations
		if len(got) != 1 || got[0].From != b.ID || got[0].To != a.ID || got[0].Kind != memory.Refines {
			t.Errorf("the relations of %s are %+v", id, got)
		}
	}
	f.want(404, "GET", "/v1/memories/"+someID+"/relations", "")
}
