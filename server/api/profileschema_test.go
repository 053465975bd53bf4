package api

import (
	"strings"
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

const schemaPath = "/v1/profile-schema"

func profileSchema(properties string) string {
	return `{"type":"object","properties":{` + properties + `}}`
}

func TestProfileSchema_FillsFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.want(404, "GET", schemaPath, "")
	f.want(404, "DELETE", schemaPath, "")
	f.want(404, "GET", "/v1/users/u/profile/fields", "")
	const properties = `"city":{"type":"string","x-attribute":"home"},"food":{"type":"array","items":{"type":"string"}}`
	for version := 1; version <= 2; version++ {
		got := fetch[profileSchemaBody](f, 200, "PUT", schemaPath, profileSchema(properties))
		if got.Version != version || !strings.Contains(string(got.Schema), `"x-attribute":"home"`) || got.StoredBy == "" ||
			!got.StoredAt.Equal(noon) {
			t.Errorf("%+v", got)
		}
	}
	if got := fetch[profileSchemaBody](f, 200, "GET", schemaPath, ""); got.Version != 2 {
		t.Errorf("%+v", got)
	}
	if none := fetch[profileFieldsBody](f, 200, "GET", "/v1/users/u/profile/fields", ""); len(none.Fields) != 2 ||
		none.Fields["city"] != nil || none.State != "complete" || none.Version != 2 || none.UserID != "u" {
		t.Errorf("%+v", none)
	}
	home := f.keep(ingest.Write{Owner: owner("u"), Content: "I live in Porto.", Type: memory.TypeFact})
	eats := f.keep(ingest.Write{Owner: owner("u"), Content: "I love fish soup.", Type: memory.TypeFact})
	f.chat.Answers(`{"values":[{"field":"food","value":"fish soup","statement":2,"quote":"love fish soup"},
		{"field":"food","value":"fish soup","statement":1,"quote":"love fish soup"}]}`)
	got := fetch[profileFieldsBody](f, 200, "GET", "/v1/users/u/profile/fields?ask=false", "")
	if city := got.Fields["city"]; city == nil || city.Value != "Porto" || city.By != "rules" || city.Confidence != 0.95 ||
		len(city.Sources) != 1 || city.Sources[0].MemoryID != home.ID || city.Sources[0].Content != home.Content ||
		!city.At.Equal(home.CreatedAt) || got.Fields["food"] != nil || got.State != "not_asked" {
		t.Errorf("%+v", got)
	}
	const ofAgent = "/v1/users/u/profile/fields?agent_id=a"
	got = fetch[profileFieldsBody](f, 200, "GET", ofAgent, "", "Authorization", "Bearer read")
	if food := got.Fields["food"]; food == nil || food.By != "model" || food.Confidence != 0.9 ||
		len(food.Sources) != 1 || food.Sources[0].MemoryID != eats.ID || got.State != "complete" {
		t.Errorf("%+v", got)
	}
	f.want(204, "DELETE", schemaPath, "")
	f.want(404, "GET", "/v1/users/u/profile/fields", "")
}

func TestProfileSchema_KeepsAppsRolesAndModesApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("stranger", "other", memory.RoleAdmin)
	f.keep(ingest.Write{Owner: owner("u"), Content: "I live in Porto.", Type: memory.TypeFact})
	city := profileSchema(`"city":{"type":"string","x-attribute":"home"}`)
	f.want(200, "PUT", schemaPath, city)
	for _, c := range []struct {
		key, method, target, body string
		want                      int
	}{
		{"write", "PUT", schemaPath, city, 403}, {"write", "GET", schemaPath, "", 403},
		{"read", "DELETE", schemaPath, "", 403},
		{"stranger", "GET", schemaPath, "", 404}, {"stranger", "DELETE", schemaPath, "", 404},
		{"stranger", "GET", "/v1/users/u/profile/fields", "", 404},
		{"stranger", "PUT", schemaPath, city, 200},
	} {
		f.want(c.want, c.method, c.target, c.body, "Authorization", "Bearer "+c.key)
	}
	const fields = "/v1/users/u/profile/fields"
	strange := fetch[profileFieldsBody](f, 200, "GET", fields, "", "Authorization", "Bearer stranger")
	if strange.Fields["city"] != nil {
		t.Errorf("another app's: %+v", strange)
	}
	if got := fetch[profileFieldsBody](f, 200, "GET", fields, ""); got.Fields["city"] == nil {
		t.Errorf("%+v", got)
	}
	f.want(200, "PUT", "/v1/users/u", `{"memory":"off"}`)
	if got := fetch[profileFieldsBody](f, 200, "GET", fields, ""); got.Fields["city"] != nil || len(got.Fields) != 1 {
		t.Errorf("while memory is off: %+v", got)
	}
}

func TestProfileSchema_RefusesHostileRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for body, want := range map[string]string{
		``: "body", `[]`: "body", `{}`: "type", `{"type":7,"properties":{}}`: "type",
		`{"type":"object","properties":[]}`:                                                     "properties",
		profileSchema(`"a":{"type":"string","pattern":"(a+)+$"}`):                               "say it in the description",
		profileSchema(`"a":{"anyOf":[{"type":"string"},{"type":"null"}]}`):                      "properties.a.anyOf",
		profileSchema(`"a":{"type":"string"},"a":{"type":"string"}`):                            "a",
		profileSchema(`"__proto__ x":{"type":"string"}`):                                        "letters",
		profileSchema(`"a":` + strings.Repeat(`{"items":`, 40) + `7` + strings.Repeat(`}`, 40)): "nested",
	} {
		if got := f.want(400, "PUT", schemaPath, body).Body.String(); !strings.Contains(got, want) {
			t.Errorf("%.80s: %s", body, got)
		}
	}
	f.want(200, "PUT", schemaPath, profileSchema(`"a":{"type":"string"}`))
	for _, target := range []string{"?ask=maybe", "?agent_id=", "?limit=1", "?at=now"} {
		f.want(400, "GET", "/v1/users/u/profile/fields"+target, "")
	}
	f.want(400, "GET", "/v1/users/%00/profile/fields", "")
}
