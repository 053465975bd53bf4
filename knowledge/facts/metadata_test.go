package facts

import (
	"encoding/json"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

func TestMetadata_StaysWithinItsLimit(t *testing.T) {
	t.Parallel()
	value, err := CanonicalValue(json.RawMessage(`"` + strings.Repeat("<", memory.MaxFactValue-2) + `"`))
	if err != nil {
		t.Fatal(err)
	}
	f := memory.Fact{
		Type: strings.Repeat("界", memory.MaxFactName), Key: strings.Repeat(`"`, memory.MaxFactName), Value: value,
		Confidence: 0.12345678901234567,
	}
	if why := memory.CheckMetadata(Metadata(f)); why != "" {
		t.Errorf("the metadata %s", why)
	}
}

func TestRestated_RaisesTheConfidenceOnly(t *testing.T) {
	t.Parallel()
	lisbon := memory.Fact{Type: "profile", Key: "home_city", Value: json.RawMessage(`"Lisbon"`), Confidence: 0.9}
	for _, c := range []struct{ name, metadata, want string }{
		{"lower", metadataOf("0.5"), metadataOf("0.9")},
		{"equal", metadataOf("0.9"), metadataOf("0.9")},
		{"higher", metadataOf("1"), metadataOf("1")},
		{"without a value", `{"fact":{"key":"home_city","type":"profile"}}`, metadataOf("0.9")},
		{"with entries of a client", `{"by":"<hand>","fact":{"confidence":0}}`, `{"by":"<hand>",` + metadataOf("0.9")[1:]},
		{"of a client", `{"by":"hand"}`, `{"by":"hand"}`},
		{"another fact of a client", `{"fact":"home"}`, `{"fact":"home"}`},
		{"absent", ``, ``},
		{"another value", `{"fact":{"type":"profile","key":"home_city","value":"Porto","confidence":1}}`, metadataOf("0.9")},
		{"another timeline", `{"fact":{"type":"work","key":"city","confidence":0}}`,
			`{"fact":{"type":"work","key":"city","confidence":0}}`},
	} {
		if got := string(restated(json.RawMessage(c.metadata), lisbon)); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
