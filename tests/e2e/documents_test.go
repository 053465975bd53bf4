package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// readHandbook returns a handbook of 3,000 words in Markdown, and twenty questions with words of the answers.
func readHandbook(t *testing.T) (handbook string, questions [][2]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/handbook/handbook.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("testdata/handbook/questions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		question, answer, _ := strings.Cut(strings.TrimSpace(line), "\t")
		questions = append(questions, [2]string{question, answer})
	}
	return string(text), questions
}

// give is a document of ada.
func give(id, content string) object {
	return object{"user_id": "ada", "id": id, "content_type": "text/markdown", "content": content}
}

// passagesOf lists the passages of a document.
func (s *server) passagesOf(id any) []object {
	s.t.Helper()
	return s.call("GET", "/v1/documents/"+id.(string), nil, 200).list("passages")
}

// Of twenty questions about a handbook of 3,000 words, recall finds the answer first for at least sixteen, and among
// the first three for at least nineteen.
func TestDocuments_AnswerQuestionsAboutAHandbook(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		handbook, questions := readHandbook(t)
		stored := s.call("POST", "/v1/documents", give("handbook", handbook), 201)
		if stored.body["title"] != "Norrland Handbook" || stored.body["passage_count"].(float64) < 50 {
			t.Errorf("the document: %s", stored.raw)
		}
		first, among := 0, 0
		for _, q := range questions {
			found := s.call("POST", "/v1/recall",
				object{"user_id": "ada", "query": q[0], "limit": 3, "touch": false}, 200).list("memories")
			at := slices.IndexFunc(found, func(m object) bool { return strings.Contains(m["content"].(string), q[1]) })
			if at != 0 {
				t.Logf("%s: place %d: %.150q", q[0], at+1, found[0]["content"])
			} else {
				first++
			}
			if at >= 0 {
				among++
			}
		}
		t.Logf("%d of %d answers are first, %d among the first three", first, len(questions), among)
		if first < 16 || among < 19 {
			t.Errorf("%d of %d answers are first, %d among the first three", first, len(questions), among)
		}
	})
}

const (
	leave   = "# Handbook\n\n## Leave\n\nYou have 28 days of paid holiday a year.\n\n"
	travel  = "## Travel\n\nA hotel may cost up to 140 euros a night.\n\n"
	travel2 = "## Travel\n\nA hotel may cost up to 160 euros a night.\n\n"
	dogs    = "## Dogs\n\nDogs are welcome on the second floor.\n"
)

// idsOf lists the memories of passages.
func idsOf(passages []object) (ids []any) {
	for _, p := range passages {
		ids = append(ids, p["memory_id"])
	}
	return ids
}

// A new version keeps the passages that stay, as the memories that they are, and forgets those that are gone; the same
// again changes nothing; a restore undoes a deletion, and nothing that was forgotten before it.
func TestDocuments_AreReplacedByPart(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		first := s.call("POST", "/v1/documents", give("handbook", leave+travel+dogs), 201)
		id := first.body["id"]
		before := s.passagesOf(id)
		if len(before) != 3 || before[1]["content"] != "Travel\nA hotel may cost up to 140 euros a night." ||
			before[1]["heading"] != "Travel" {
			t.Fatalf("the passages: %v", before)
		}
		again := s.call("POST", "/v1/documents", give("handbook", leave+travel+dogs), 200)
		if again.body["id"] != id || again.body["version"] != 1.0 || again.body["added"] != 0.0 || again.body["kept"] != 3.0 {
			t.Errorf("the same again: %s", again.raw)
		}
		asPage := give("handbook", "<h1>Handbook</h1><h2>Leave</h2><p>You have <b>28</b> days of paid holiday a year."+
			"<h2>Travel</h2><p>A hotel may cost up to 140 euros a night.<h2>Dogs</h2>Dogs are welcome on the second floor.")
		asPage["content_type"] = "text/html"
		if same := s.call("POST", "/v1/documents", asPage, 200); same.body["version"] != 1.0 {
			t.Errorf("the same as HTML: %s", same.raw)
		}

		second := s.call("POST", "/v1/documents", give("handbook", dogs+leave+travel2), 201)
		for field, want := range map[string]float64{"version": 2, "added": 1, "kept": 2, "forgotten": 1} {
			if second.body[field] != want {
				t.Errorf("%s of the second version: %s", field, second.raw)
			}
		}
		after := idsOf(s.passagesOf(id))
		if old := idsOf(before); after[0] != old[2] || after[1] != old[0] || slices.Contains(old, after[2]) {
			t.Errorf("the memories were %v and are %v", old, after)
		}
		const hotel = "What may a hotel cost?"
		if found := s.recalled("ada", hotel); strings.Contains(found, "140") || !strings.Contains(found, "160") {
			t.Errorf("recalled after the second version: %s", found)
		}
		moved := s.call("GET", "/v1/memories/"+after[1].(string), nil, 200)
		metadata := moved.body["metadata"].(map[string]any)
		cited := metadata["document"].(map[string]any)
		if metadata["document_id"] != id || cited["title"] != "Handbook" || cited["passage"] != 2.0 ||
			cited["since_version"] != 1.0 {
			t.Errorf("the citation of a passage that has moved: %v", cited)
		}
		context := s.call("POST", "/v1/context", object{"user_id": "ada", "query": hotel}, 200).body["text"].(string)
		if want := `- Travel: A hotel may cost up to 160 euros a night. (from "Handbook")`; !strings.Contains(context, want) {
			t.Errorf("the context lacks %s:\n%s", want, context)
		}

		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Likes cheap hotels."}, 201)
		for want, filter := range map[string]object{
			"Likes cheap hotels.":                               {"metadata": object{"document_id": nil}},
			"Travel\nA hotel may cost up to 160 euros a night.": {"metadata": object{"document_id": id}},
		} {
			query := object{"user_id": "ada", "query": hotel, "filter": filter}
			chosen := s.call("POST", "/v1/recall", query, 200).list("memories")
			if len(chosen) == 0 || chosen[0]["content"] != want {
				t.Errorf("the filter %v chooses %v", filter, chosen)
			}
		}

		s.call("DELETE", "/v1/memories/"+after[0].(string), nil, 200)
		gone := s.call("DELETE", "/v1/documents/"+id.(string), nil, 200)
		if gone.body["changed"] != 2.0 || strings.Contains(s.recalled("ada", hotel), "160") {
			t.Errorf("forgotten: %s, recalled: %s", gone.raw, s.recalled("ada", hotel))
		}
		if listed := s.call("GET", "/v1/documents?user_id=ada", nil, 200).list("documents"); len(listed) != 0 {
			t.Errorf("a forgotten document is listed: %v", listed)
		}
		s.call("DELETE", "/v1/documents/"+id.(string), nil, 200)
		back := s.call("POST", "/v1/documents/"+id.(string)+"/restore", nil, 200)
		if found := s.recalled("ada", "Where are dogs welcome? What may a hotel cost?"); back.body["changed"] != 2.0 ||
			strings.Contains(found, "Dogs") || !strings.Contains(found, "160") {
			t.Errorf("restored: %s, recalled: %s", back.raw, found)
		}
		s.call("DELETE", "/v1/documents/"+id.(string), nil, 200)
		anew := s.call("POST", "/v1/documents", give("handbook", leave), 201)
		if anew.body["id"] != id || anew.body["added"] != 1.0 || anew.body["version"] != 3.0 {
			t.Errorf("sent after it was forgotten: %s", anew.raw)
		}
		s.storesEqual(builtin, "ada")
	})
}

// A document says nothing about the user: the user's own sentence is found first, is superseded by no document, and
// forgetting one of both leaves the other.
func TestDocuments_SayNothingAboutTheUser(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		const own, question = "I live in Lisbon.", "Where do I live?"
		s.call("POST", "/v1/turns", turn("ada", own), 200)
		s.call("POST", "/v1/documents", give("cv", "I live in Utrecht."), 201)
		s.call("POST", "/v1/documents", give("letter", "# Where I live\n\nI live in Utrecht, in a flat."), 201)
		s.call("POST", "/v1/documents", give("copy", own), 201)
		query := object{"user_id": "ada", "query": question, "touch": false}
		found := s.call("POST", "/v1/recall", query, 200).list("memories")
		if len(found) < 3 || found[0]["content"] != own || found[0]["said_by"] == "document" {
			t.Errorf("%s finds %v", question, found)
		}
		for _, m := range s.call("GET", "/v1/memories?user_id=ada&status=superseded", nil, 200).list("memories") {
			t.Errorf("superseded: %v", m)
		}
		if profile := s.call("GET", "/v1/users/ada/profile", nil, 200).raw; strings.Contains(profile, "Utrecht") {
			t.Errorf("the profile: %s", profile)
		}
		quoted := s.call("GET", "/v1/memories?user_id=ada&type=message&limit=100", nil, 200).list("memories")
		for _, m := range quoted {
			if m["said_by"] == "document" && m["content"] == own {
				s.call("DELETE", "/v1/memories/"+m["id"].(string), nil, 200)
			}
		}
		if still := s.recalled("ada", question); !strings.Contains(still, own) {
			t.Errorf("forgetting a passage has forgotten the user's words: %s", still)
		}
		s.call("POST", "/v1/documents", give("another copy", own+" It is sunny."), 201)
		for _, m := range s.call("GET", "/v1/memories?user_id=ada&type=fact&limit=100", nil, 200).list("memories") {
			s.call("DELETE", "/v1/memories/"+m["id"].(string), nil, 200)
		}
		left := s.recalled("ada", question)
		if strings.Contains(left, own+"\n") || !strings.Contains(left, own+" It is sunny.") {
			t.Errorf("after forgetting the user's words: %s", left)
		}
	})
}
