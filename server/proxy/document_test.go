package proxy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestDocument_DescribesWhatTheProxyReadsAndAdds(t *testing.T) {
	t.Parallel()
	d, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
	for path, item := range d.Paths.Map() {
		of := item.Post
		if shapeOf(http.MethodPost, path) == nil {
			if path != "/{path}" {
				t.Errorf("%s is described, and has no shape", path)
			}
			continue
		}
		for _, name := range []string{headerUser, headerConversation, headerAgent, headerMemory, headerKey} {
			if of.Parameters.GetByInAndName("header", name) == nil {
				t.Errorf("%s: the header %s is not described", path, name)
			}
		}
		for _, name := range []string{
			headerMemory, headerMemories, headerSize, headerTurn, headerTook, headerError,
		} {
			if of.Responses.Status(http.StatusOK).Value.Headers[name] == nil {
				t.Errorf("%s: the header %s of answers is not described", path, name)
			}
		}
	}
	for _, name := range append(trustedUsers, trustedConversations...) {
		if !strings.Contains(string(document), name) {
			t.Errorf("%s is not described", name)
		}
	}
	for _, path := range []string{"/chat/completions", "/responses"} {
		if d.Paths.Value(path) == nil {
			t.Errorf("%s is not described", path)
		}
	}
}
