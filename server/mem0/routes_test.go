package mem0

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

var parameter = regexp.MustCompile(`\{\w+\}`)

// openapi.yaml describes every route except the routes that are not offered.
func TestDocument_DescribesTheRoutes(t *testing.T) {
	t.Parallel()
	d, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	var described, served []string
	for path, item := range d.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+parameter.ReplaceAllString(strings.Trim(path, "/"), "{}"))
		}
	}
	for _, r := range routes {
		if !strings.HasPrefix(r.pattern, "* ") {
			served = append(served, r.pattern)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if diff := cmp.Diff(described, served); diff != "" {
		t.Errorf("described (-) and served (+) routes differ:\n%s", diff)
	}
}
