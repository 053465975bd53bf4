package deploy

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dashboard is the part of a Grafana dashboard that this test reads.
type dashboard struct {
	UID, Title string
	Templating struct {
		List []struct {
			Name, Type, Query string
			Datasource        source
		}
	}
	Panels []struct {
		ID         int
		Title      string
		Datasource source
		GridPos    struct{ X, Y, W, H int }
		Targets    []struct{ RefID, Expr, LegendFormat string }
	}
}

type source struct{ Type, UID string }

// variables replaces the variables of Grafana in an expression by values.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$price_in", "1", "$price_cached", "1", "$price_out", "1")

// Every dashboard is valid, reads the data source of its variable alone, and shows metrics that exist.
func TestDashboards_ShowMetricsThatExist(t *testing.T) {
	t.Parallel()
	shown := metrics(t)
	files, err := filepath.Glob("grafana/*.json")
	if err != nil || len(files) != 4 {
		t.Fatalf("%v: %v", files, err)
	}
	byVariable := source{"prometheus", "${datasource}"}
	uids := map[string]bool{}
	used := ""
	for _, file := range files {
		var d dashboard
		raw := text(t, file)
		if err := json.Unmarshal([]byte(raw), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if uids[d.UID] || d.UID == "" || d.Title == "" {
			t.Errorf("%s: the uid %q or the title %q is missing or taken", file, d.UID, d.Title)
		}
		uids[d.UID] = true
		if first := d.Templating.List[0]; first.Name != "datasource" || first.Type != "datasource" {
			t.Errorf("%s: the first variable is %v", file, first)
		}
		for _, v := range d.Templating.List {
			if v.Type == "query" && v.Datasource != byVariable {
				t.Errorf("%s: the variable %s has the data source %v", file, v.Name, v.Datasource)
			}
		}
		if n := strings.Count(raw, `"uid": "${datasource}"`); n != strings.Count(raw, `"datasource": {`) {
			t.Errorf("%s: some data source is not the variable", file)
		}
		var ids []int
		for _, p := range d.Panels {
			where := file + ", " + p.Title
			if slices.Contains(ids, p.ID) || p.Title == "" || len(p.Targets) == 0 || p.Datasource != byVariable {
				t.Errorf("%s: the id %d is taken, or the title, a target or the data source is missing", where, p.ID)
			}
			ids = append(ids, p.ID)
			if p.GridPos.W == 0 || p.GridPos.H == 0 || p.GridPos.X+p.GridPos.W > 24 {
				t.Errorf("%s: its place is %v", where, p.GridPos)
			}
			for _, target := range p.Targets {
				checkExpr(t, where, variables.Replace(target.Expr), shown)
				used += target.Expr
			}
		}
	}
	for _, line := range strings.Split(shown, "\n") { // of the kind: # TYPE name counter
		words := strings.Fields(line)
		sizes := []string{"hippocampus_http_request_size_bytes", "hippocampus_http_response_size_bytes"}
		if len(words) > 2 && words[1] == "TYPE" && strings.HasPrefix(words[2], "hippocampus_") &&
			!strings.Contains(used, words[2]) && !slices.Contains(sizes, words[2]) {
			t.Errorf("no dashboard shows %s", words[2])
		}
	}
}
