package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// licenceFile matches the names of files with a licence or with notices.
var licenceFile = regexp.MustCompile(
	`(?i)^(copying|copyright|notice|patents|licen[cs]e(-[a-z0-9]+)?|[a-z0-9]+-licen[cs]e)(\.[a-z]+)?$`)

// patentGrant is licensecheck's id of a text without an SPDX id, which grants patents in addition to the licence.
const patentGrant = "GooglePatentsFile"

// leastCoverage is the percentage of a file that known licences must cover for it to count as a licence.
const leastCoverage = 75

func standardLibrary(goVersion string) module {
	return module{path: "std", version: strings.TrimPrefix(goVersion, "go"), licence: "BSD-3-Clause"}
}

// outside has the licences of modules whose repository keeps the text in a folder above the module.
var outside = map[string]string{"github.com/milvus-io/milvus-proto/go-api/v2": "Apache-2.0"}

// readLicences fills in the files and licences of modules.
func readLicences(modules []module) error {
	folders, err := foldersOf(modules)
	if err != nil {
		return err
	}
	for i := range modules {
		m := &modules[i]
		if m.path == "std" {
			root, err := exec.Command("go", "env", "GOROOT").Output()
			if err != nil {
				return fmt.Errorf("find the standard library: %w", err)
			}
			m.files = []string{filepath.Join(strings.TrimSpace(string(root)), "LICENSE")}
			continue
		}
		folder := folders[m.path+"@"+m.version]
		entries, err := os.ReadDir(folder)
		if err != nil {
			return fmt.Errorf("read the folder of %s %s, which go.mod may have in another version: %w", m.path, m.version, err)
		}
		var found []string
		for _, entry := range entries {
			if entry.IsDir() || !licenceFile.MatchString(entry.Name()) {
				continue
			}
			file := filepath.Join(folder, entry.Name())
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			m.files = append(m.files, file)
			found = append(found, licencesIn(text)...)
		}
		slices.Sort(found)
		m.licence = cmp.Or(strings.Join(slices.Compact(found), " AND "), outside[m.path])
		if m.licence == "" {
			return fmt.Errorf("%s %s has no licence that is known (%q): read its terms", m.path, m.version, m.files)
		}
	}
	return nil
}

// licencesIn returns the SPDX ids of the licences that a text consists of.
func licencesIn(text []byte) (ids []string) {
	coverage := licensecheck.Scan(text)
	if coverage.Percent < leastCoverage {
		return nil
	}
	for _, match := range coverage.Match {
		if !match.IsURL && match.ID != patentGrant {
			ids = append(ids, match.ID)
		}
	}
	return ids
}

// foldersOf returns the folder of each module in the module cache, by PATH@VERSION.
func foldersOf(modules []module) (map[string]string, error) {
	args := []string{"list", "-m", "-json"}
	for _, m := range modules {
		if m.path != "std" {
			args = append(args, m.path)
		}
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("find the modules in the cache: %w", err)
	}
	folders := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var found struct{ Path, Version, Dir string }
		err := decoder.Decode(&found)
		if errors.Is(err, io.EOF) {
			return folders, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the list of modules: %w", err)
		}
		folders[found.Path+"@"+found.Version] = found.Dir
	}
}

// embedded are files of this repository with licences of others' work in the binary.
var embedded = []string{
	"internal/wordvec/LICENSE", "internal/wordvec/NOTICE", "internal/bert/LICENSE", "internal/bert/NOTICE",
	"server/reference/assets/licences.txt", "console/licences.txt",
}

// writeLicences writes the texts of all licences, those of embedded files at the end.
func writeLicences(out io.Writer, modules []module) error {
	fmt.Fprintf(out, "Hippocampus contains the work of others, under these licences.\n\n")
	for _, m := range modules {
		fmt.Fprintf(out, "%s %s: %s\n", m.path, m.version, m.licence)
	}
	for _, m := range modules {
		for _, file := range m.files {
			if err := writeLicence(out, m.path+" "+m.version+", "+filepath.Base(file), file); err != nil {
				return err
			}
		}
	}
	for _, file := range embedded {
		if err := writeLicence(out, file, file); err != nil {
			return err
		}
	}
	return nil
}

func writeLicence(out io.Writer, title, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), title, bytes.TrimSpace(text))
	return err
}
