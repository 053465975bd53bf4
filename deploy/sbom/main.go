// Command sbom lists what a Go program consists of, from the build information in its binary:
//
//	binary -> modules -> licence files in the module cache -> bill of materials, licence texts
//
// It is run where the binary was built, since it reads the licences from the module cache:
//
//	go run ./deploy/sbom cyclonedx BINARY VERSION > sbom.cdx.json
//	go run ./deploy/sbom licences BINARY > THIRD_PARTY_LICENCES.txt
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) < 2 || (args[0] == "cyclonedx") != (len(args) == 3) {
		return errors.New("usage: sbom cyclonedx BINARY VERSION, or sbom licences BINARY")
	}
	binary := args[1]
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the build information: %w", err)
	}
	modules, err := modulesOf(info)
	if err != nil {
		return err
	}
	switch args[0] {
	case "cyclonedx":
		sum, err := checksum(binary)
		if err != nil {
			return err
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(billOf(info, args[2], sum, modules))
	case "licences":
		return writeLicences(out, modules)
	default:
		return fmt.Errorf("unknown command %q: give cyclonedx or licences", args[0])
	}
}

// module is a Go module in the binary, or other code in the binary that has its own licence.
type module struct {
	path, version string
	files         []string // paths of its licences and notices
	licence       string   // SPDX expression of the licences that its files hold
}

// modulesOf returns the modules of a binary in the order of the build information, after Go's standard library.
func modulesOf(info *debug.BuildInfo) ([]module, error) {
	modules := []module{standardLibrary(info.GoVersion)}
	for _, dependency := range info.Deps {
		if dependency.Replace != nil {
			dependency = dependency.Replace
		}
		modules = append(modules, module{path: dependency.Path, version: dependency.Version})
	}
	return modules, readLicences(modules)
}
