package memorytool

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"hippocampus/internal/memory"
)

// resolve returns the path that a caller means: in Unicode's form NFC, without empty segments and dots.
func resolve(path string) (string, error) {
	rest, within := strings.CutPrefix(path, memory.FileRoot)
	if !within || rest != "" && rest[0] != '/' {
		return "", refusal("Path must start with /memories, got: " + path)
	}
	resolved := memory.FileRoot
	for segment := range strings.SplitSeq(rest, "/") {
		if segment == "" || segment == "." {
			continue
		}
		if !memory.IsFileName(segment) {
			return "", refusal(fmt.Sprintf("Path %s would escape /memories directory", path))
		}
		resolved += "/" + segment
	}
	resolved = norm.NFC.String(resolved)
	if resolved == memory.FileRoot {
		return resolved, nil
	}
	if why := memory.CheckFilePath(resolved); why != "" {
		return "", refusal(fmt.Sprintf("Path %s %s", path, why))
	}
	return resolved, nil
}
