package main

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// output runs the program on the binary of this test, which contains modules, and returns what it prints. The current
// folder is that of the repository.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(slices.Insert(args, 1, binary(t)), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func binary(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	serial   = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	digest   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	spdxTerm = regexp.MustCompile(`^[A-Za-z0-9.-]+( AND [A-Za-z0-9.-]+)*$`)
)

// The fields are the ones that https://cyclonedx.org/schema/bom-1.6.schema.json requires, and the ones by which readers
// of bills find components.
func TestCycloneDX_HasItsRequiredFields(t *testing.T) {
	t.Chdir("../..")
	text := output(t, "cyclonedx", "v1.2.3")
	var b bill
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Spec != "1.6" || b.Version != 1 || !serial.MatchString(b.Serial) {
		t.Errorf("the head is %s %s %d %s", b.Format, b.Spec, b.Version, b.Serial)
	}
	program := b.Metadata.Component
	if program.Type != "application" || program.URL != "pkg:golang/hippocampus@v1.2.3" || len(program.Hashes) != 1 ||
		!digest.MatchString(program.Hashes[0].Content) {
		t.Errorf("the program is %+v", program)
	}
	refs := []string{}
	for _, c := range append(b.Components, program) {
		if c.Name == "" || c.Version == "" || c.Ref == "" || len(c.Licences) != 1 ||
			!spdxTerm.MatchString(c.Licences[0].Expression) || strings.ContainsAny(c.URL, "() ") {
			t.Errorf("component %+v", c)
		}
		if slices.Contains(refs, c.Ref) {
			t.Errorf("two components have the reference %s", c.Ref)
		}
		refs = append(refs, c.Ref)
	}
	if !slices.ContainsFunc(b.Components, func(c component) bool {
		return c.Name == "github.com/google/uuid" && c.Licences[0].Expression == "BSD-3-Clause"
	}) {
		t.Errorf("the modules of the binary are missing in %v", refs)
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !slices.Contains(refs, ref) {
				t.Errorf("the dependencies name %s, which is not a component", ref)
			}
		}
	}
	if again := output(t, "cyclonedx", "v1.2.3"); again != text {
		t.Error("two bills of one binary differ")
	}
}

func TestBill_HasTheTimeOfTheCommit(t *testing.T) {
	t.Parallel()
	b := billOf(&debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.time", Value: "2026-01-02T03:04:05+01:00"}, {Key: "GOOS", Value: "linux"}, {Key: "other", Value: "x"},
	}}, "v1.2.3", "00", nil)
	if p := b.Metadata.Component.Properties; b.Metadata.Timestamp != "2026-01-02T02:04:05Z" || len(p) != 1 ||
		p[0] != (property{Name: "go:build:GOOS", Value: "linux"}) {
		t.Errorf("the metadata is %+v", b.Metadata)
	}
}

func TestLicences_HasTheTextOfEveryModule(t *testing.T) {
	t.Chdir("../..")
	text := output(t, "licences")
	for _, want := range []string{
		"\ngithub.com/google/uuid v", ": BSD-3-Clause\n", "\nstd 1.", "\ninternal/wordvec/NOTICE\n", "Copyright (c) 2009",
		"\ninternal/bert/NOTICE\n", "Copyright (c) 2022 staoxiao",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the licences lack %q", want)
		}
	}
}

func TestReadLicences_RefusesUnknownLicences(t *testing.T) {
	t.Parallel()
	if ids := licencesIn([]byte("You may use this on Sundays, if it rains.")); len(ids) > 0 {
		t.Errorf("a text without a known licence has %q", ids)
	}
}

func TestLicences_HasEveryPackageOfTheConsole(t *testing.T) {
	t.Parallel()
	var manifest struct{ Dependencies map[string]string }
	text, err := os.ReadFile("../../console/package.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	licences, err := os.ReadFile("../../console/licences.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Dependencies) == 0 {
		t.Error("console/package.json has no dependencies")
	}
	for name := range manifest.Dependencies {
		if !strings.Contains(string(licences), "\n"+name+" ") {
			t.Errorf("console/licences.txt lacks %s, which console/package.json depends on", name)
		}
	}
}
