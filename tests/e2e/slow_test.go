package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/vectorstore/milvus/milvustest"
)

// A Milvus that does not answer costs a recall, or the two recalls of a context together, less than
// recall.timeout.
func TestRecall_IsBoundedWhileMilvusIsSilent(t *testing.T) {
	t.Parallel()
	const timeout = 8 * time.Second
	proxy := newProxy(t, milvustest.Addr(t))
	s := start(t, append(large(t, proxy.Listen), "HIPPOCAMPUS_RECALL_TIMEOUT=8s", "HIPPOCAMPUS_RECALL_COMPARE_LIMIT=0")...)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": keeper}, 201)
	for key, value := range map[string]string{"city": "Porto", "country": "Portugal"} {
		s.call("PUT", "/v1/facts", object{"user_id": "ada", "type": "home", "key": key, "value": value}, 200)
	}
	s.findsKeeper()

	hole := `{"name": "hole", "type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`
	if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(hole)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/recall", "/v1/context"} {
		begin := time.Now()
		r := s.call("POST", path, object{"user_id": "ada", "query": "lighthouse keeper"}, 200)
		if took := time.Since(begin); took > timeout {
			t.Errorf("%s took %v", path, took)
		}
		if !slices.Equal(r.body["degraded"].([]any), []any{"vector_store"}) || !strings.Contains(r.raw, keeper) {
			t.Errorf("%s: %s", path, r.raw)
		}
	}
}
