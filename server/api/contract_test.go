package api

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"hippocampus/assembly"
	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/server/frame"
)

// New refuses a route or a mount that openapi.yaml does not describe. TestAPI_ServesWhatIsDescribed in server/app finds
// what is described and not served.
func TestContract_DescribesEveryRoute(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, method := range []string{"GET", "POST"} {
		f.options.Mounts = []frame.Mount{{
			Path: "/v1/users", Methods: []string{method}, Open: func(http.Handler) frame.MountHandler { return nil },
		}}
		_, err := New(f.options)
		f.options.Metrics.Registerer = prometheus.NewRegistry()
		if described := method == "GET"; (err == nil) != described {
			t.Errorf("a mount of %s /v1/users gives %v", method, err)
		}
	}
	for _, rt := range f.routes() {
		operation(t, rt.Method, rt.Path) // which fails if the description cannot be read
	}
}

func TestContract_StatesTheLimits(t *testing.T) {
	t.Parallel()
	contract, err := wholeDocument()
	if err != nil {
		t.Fatal(err)
	}
	schemas := contract.Components.Schemas
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
		"workflow":    {*value("OutcomeRequest").Properties["workflow"].Value.MaxLength, uint64(memory.MaxWorkflow)},
		"outcome":     {*value("OutcomeRequest").Properties["note"].Value.MaxLength, memory.MaxNote},
		"fact":        {*value("FactName").MaxLength, memory.MaxFactName},
		"source":      {*value("FactRequest").Properties["source"].Value.MaxLength, memory.MaxFactSource},
		"title":       {*value("ConversationTitle").MaxLength, memory.MaxTitleRunes},
		"recall":      {uint64(*value("RecallLimit").Max), memory.MaxLimit},
		"page":        {uint64(*contract.Components.Parameters["Limit"].Value.Schema.Value.Max), memory.MaxPage},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: openapi.yaml says %d, the domain %d", what, pair[0], pair[1])
		}
	}
	if got := value("RecallLimit").Default; got != float64(defaultRecall) {
		t.Errorf("recall's default limit is %v in openapi.yaml", got)
	}
	sameNames(t, value("Domain"), memory.Domains)
	sameNames(t, value("MemoryType"), memory.Types)
	sameNames(t, value("MessageRole"), memory.MessageRoles)
	sameNames(t, value("MemoryStatus"), memory.Statuses)
	sameNames(t, value("TurnStatus"), memory.TurnStatuses)
	sameNames(t, value("MessageKind"), memory.MessageKinds)
	sameNames(t, value("ConversationState"), []db.ConversationState{db.ConversationOpen, db.ConversationEnded})
	sameNames(t, value("FactState"), memory.FactStates)
	sameNames(t, value("ContextPart"), assembly.Parts)
	sameNames(t, value("ScopeKind"), memory.ScopeKinds)
	sameNames(t, value("Verdict"), memory.Verdicts)
	sameNames(t, value("RankingMode"), recall.Modes)
	sameNames(t, value("MemoryEvent").Properties["kind"].Value, memory.EventKinds)
	sameNames(t, value("EventKind"), memory.AnnouncementKinds)
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
	contract, err := wholeDocument()
	if err != nil {
		t.Fatal(err)
	}
	err = contract.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		if strings.Contains(pointer, "/not") { // constraints without fields of their own
			return nil
		}
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
	for path, item := range contract.Paths.Map() {
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

func TestContract_ServesTheDocumentsOfOtherProtocols(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) {
		m := repeater("POST", "/v1/memories")
		m.Document, m.DocumentName = []byte("openapi: 3.0.3"), "repeat.yaml"
		o.Mounts = []frame.Mount{m}
	})
	for name, handler := range map[string]http.Handler{"the API": f, "metrics.listen": f.Documents()} {
		for path, status := range map[string]int{"/openapi/repeat.yaml": 200, "/openapi/other.yaml": 404} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if w.Code != status || status == 200 && w.Body.String() != "openapi: 3.0.3" {
				t.Errorf("%s: %s: %d %s", name, path, w.Code, w.Body)
			}
		}
	}
}

// feedbackOf returns a request as the example one, on a recall and memories that exist; other requests name no recall.
func (f *fixture) feedbackOf(path, example string) (target, body string) {
	u17 := owner("u-17")
	body = regexp.MustCompile(`0198c0de[-0-9a-f]*`).ReplaceAllStringFunc(example, func(id string) string {
		return f.keep(ingest.Write{Owner: u17, Content: "Has read page " + id + "."}).ID
	})
	return filled(path, memory.NewRecallID(u17)), body
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
	for path, item := range f.contract.Paths.Map() {
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
				target, body := filled(path, id), mustJSON(t, e)
				if op.OperationID == "giveFeedback" || op.OperationID == "promoteToPool" {
					target, body = f.feedbackOf(path, body)
				}
				if w := f.send(method, target, body); w.Code >= 300 {
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
