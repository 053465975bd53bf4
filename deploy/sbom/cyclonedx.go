package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
)

// bill is a bill of materials in the form of CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json/.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"` // from the hash of the binary: equal builds have equal bills
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string      `json:"timestamp,omitempty"` // of the commit
	Component component   `json:"component"`
	Lifecycle []lifecycle `json:"lifecycles"`
}

type lifecycle struct {
	Phase string `json:"phase"`
}

type component struct {
	Type       string          `json:"type"`
	Ref        string          `json:"bom-ref"`
	Name       string          `json:"name"`
	Version    string          `json:"version"`
	URL        string          `json:"purl"`
	Hashes     []hash          `json:"hashes,omitempty"`
	Licences   []licenceChoice `json:"licenses"`
	Properties []property      `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licenceChoice struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// billOf returns the bill of a binary of this version with this SHA-256. The build information names modules without
// their edges, so that every module is a dependency of the program.
func billOf(info *debug.BuildInfo, version, sum string, modules []module) bill {
	program := componentOf("application", module{path: info.Main.Path, version: version, licence: "Apache-2.0"})
	program.Hashes = []hash{{Algorithm: "SHA-256", Content: sum}}
	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Serial:   uuid.NewSHA1(uuid.NameSpaceOID, []byte(sum)).URN(),
		Metadata: metadata{Lifecycle: []lifecycle{{Phase: "build"}}},
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.time":
			if at, err := time.Parse(time.RFC3339, s.Value); err == nil {
				b.Metadata.Timestamp = at.UTC().Format(time.RFC3339)
			}
		case "GOOS", "GOARCH", "CGO_ENABLED", "-tags", "vcs.revision", "vcs.modified":
			program.Properties = append(program.Properties, property{Name: "go:build:" + s.Key, Value: s.Value})
		}
	}
	b.Metadata.Component = program
	uses := dependency{Ref: program.Ref}
	for _, m := range modules {
		c := componentOf("library", m)
		b.Components = append(b.Components, c)
		uses.DependsOn = append(uses.DependsOn, c.Ref)
	}
	b.Dependencies = append(b.Dependencies, uses)
	for _, c := range b.Components {
		b.Dependencies = append(b.Dependencies, dependency{Ref: c.Ref})
	}
	return b
}

func componentOf(kind string, m module) component {
	url := fmt.Sprintf("pkg:golang/%s@%s", m.path, m.version)
	return component{
		Type: kind, Ref: url, Name: m.path, Version: m.version, URL: url,
		Licences: []licenceChoice{{Expression: m.licence}},
	}
}

func checksum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
