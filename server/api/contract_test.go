package api

import (
	"net/http"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"hippocampus/assembly"
	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/recall"
)

func TestContract_DescribesEveryRoute(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	var served, described []string
	for _, r := range f.echo.Routes() {
		served = append(served, r.Method+" "+contractPath(r.Path))
	}
	for path, item := range f.contract.doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	sort.Strings(served)
	sort.Strings(described)
	if diff := cmp.Diff(described, served); diff != "" {
		t.Errorf("described (-) and served (+) routes differ:\n%s", diff)
	}
}

func TestContract_StatesTheLimits(t *testing.T) {
	t.Parallel()
	contract, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	schemas := contract.doc.Components.Schemas
	value := func(name string) *openapi3.Schema { return schemas[name].Value }
	for what, pair := range map[string][2]uint64{
		"user_id":     {*value("UserID").MaxLength, memory.MaxIDBytes},
		"content":     {*value("Content").MaxLength, memory.MaxContentRunes},
		"query":       {*value("Query").MaxLength, memory.MaxQueryRunes},
		"message":     {*value("Message").Properties["content"].Value.AnyOf[0].Value.MaxLength, memory.MaxMessageBytes},
		"messages":    {*value("TurnRequest").Properties["messages"].Value.MaxItems, memory.MaxMessages},
		"memory ids":  {*value("MemoryIDs").MaxItems, memory.MaxPage},
		"tags":        {*value("Tags").MaxItems, memory.MaxTags},
		"tag":         {*value("Tags").Items.Value.MaxLength, memory.MaxTagRunes},
		"instruction": {*value("InstructionName").MaxLength, memory.MaxInstructionName},
		"text":        {*value("InstructionRequest").Properties["content"].Value.MaxLength, memory.MaxInstruction},
		"version":     {*value("InstructionRequest").Properties["note"].Value.MaxLength, memory.MaxNote},
		"skill":       {*value("SkillName").MaxLength, uint64(memory.MaxSkillName)},
		"workflow":    {*value("OutcomeRequest").Properties["workflow"].Value.MaxLength, memory.MaxContentRunes},
		"outcome":     {*value("OutcomeRequest").Properties["note"].Value.MaxLength, memory.MaxNote},
		"fact":        {*value("FactName").MaxLength, memory.MaxFactName},
		"source":      {*value("FactRequest").Properties["source"].Value.MaxLength, memory.MaxFactSource},
		"title":       {*value("ConversationTitle").MaxLength, memory.MaxTitleRunes},
		"recall":      {uint64(*value("RecallLimit").Max), memory.MaxLimit},
		"page":        {uint64(*contract.doc.Components.Parameters["Limit"].Value.Schema.Value.Max), memory.MaxPage},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: openapi.yaml says %d, the domain %d", what, pair[0], pair[1])
		}
	}
	if got := value("RecallLimit").Default; got != float64(defaultRecall) {
		t.Errorf("recall's default limit is %v in openapi.yaml", got)
	}
	sameNames(t, value("Domain"), memory.Domains)
	sameNames(t, value("Type"), memory.Types)
	sameNames(t, value("MessageRole"), memory.MessageRoles)
	sameNames(t, value("MemoryStatus"), memory.Statuses)
	sameNames(t, value("TurnStatus"), memory.TurnStatuses)
	sameNames(t, value("MessageKind"), memory.MessageKinds)
	sameNames(t, value("ConversationState"), []db.ConversationState{db.ConversationOpen, db.ConversationEnded})
	sameNames(t, value("FactState"), memory.FactStates)
	sameNames(t, value("ContextPart"), assembly.Parts)
	sameNames(t, value("ScopeKind"), memory.ScopeKinds)
	sameNames(t, value("Verdict"), memory.Verdicts)
	sameNames(t, value("Mode"), recall.Modes)
	sameNames(t, value("Event").Properties["kind"].Value, memory.EventKinds)
	sameNames(t, value("AnnouncementKind"), memory.AnnouncementKinds)
}

func sameNames[T ~string](t *testing.T, schema *openapi3.Schema, want []T) {
	t.Helper()
	var got []T
	for _, name := range schema.Enum {
		got = append(got, T(name.(string)))
	}
	slices.Sort(got)
	want = slices.Clone(want)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the domain (-) and openapi.yaml (+) differ:\n%s", diff)
	}
}

// Every object states whether it is closed, and every field has a description.
func TestContract_IsClosedAndDescribed(t *testing.T) {
	t.Parallel()
	contract, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	err = contract.doc.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		s := ref.Value
		open := s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil
		if s.Type.Is("object") && open {
			t.Errorf("%s is an object that does not state additionalProperties", pointer)
		}
		for name, property := range s.Properties {
			if property.Value.Description == "" {
				t.Errorf("%s/properties/%s has no description", pointer, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range contract.doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Summary == "" || op.Description == "" || op.OperationID == "" || len(op.Tags) == 0 {
				t.Errorf("%s %s lacks a summary, description, operationId or tag", method, path)
			}
		}
	}
}

func TestContract_IsServed(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil).want(http.StatusOK, "GET", "/openapi.yaml", "", "Authorization", "")
	if w.Body.String() != string(openAPI) {
		t.Error("the served document differs")
	}
}

// The server accepts every example request of openapi.yaml.
func TestContract_ExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	// No job carries out a consolidation here, and some requests wait for one.
	f := newFixture(t, func(o *Options) { o.Wait = time.Second })
	f.work()
	id := f.peanuts().ID
	f.talk("u", id, hello)
	sent := 0
	for path, item := range f.contract.doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			media := op.RequestBody.Value.Content.Get("application/json")
			if media == nil {
				continue // a stream
			}
			examples := []any{media.Example}
			for _, e := range media.Examples {
				examples = append(examples, e.Value.Value)
			}
			for _, e := range examples {
				if e == nil {
					continue
				}
				target := filled(path, id)
				if w := f.send(method, target, mustJSON(t, e)); w.Code >= 300 {
					t.Errorf("%s %s refuses its example: %s", method, target, w.Body)
				}
				sent++
			}
		}
	}
	if sent < 8 {
		t.Errorf("only %d examples", sent)
	}
}
