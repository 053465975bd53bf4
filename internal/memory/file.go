package memory

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// FileRoot is the directory of all files of the memory tool.
const FileRoot = "/memories"

// The limits of the files of a user. They hold for all agents of the user together.
const (
	MaxFiles          = 500
	MaxFileBytes      = 100 << 10 // of one file
	MaxFilesBytes     = 5 << 20   // of all files
	MaxFileParagraphs = 500       // of one file
	MaxParagraphs     = 5000      // of all files
	MaxPathBytes      = 1024
	MaxPathSegments   = 20   // after FileRoot
	MaxFileVersions   = 50   // of one file, the present one included
	MaxPastContents   = 1000 // former versions of all files, deleted ones included
)

// File is a text file of the memory tool.
type File struct {
	ID string // UUIDv7
	Owner
	AgentID    string // the agent that alone has it; empty: it belongs to no agent
	Path       string // unique for the user and agent; see CheckFilePath
	Version    int    // counts its contents from 1
	Content    string // at most MaxFileBytes bytes
	Paragraphs []Paragraph
	CreatedAt  time.Time
	ChangedAt  time.Time // when its content was written
}

// Paragraph is a paragraph of a file and the memory that was made of it, which may have been changed or deleted since.
type Paragraph struct {
	Hash     string `json:"hash"` // SHA-256 of its text, in hexadecimal digits
	MemoryID string `json:"memory_id"`
}

// FileVersion is a content that a file has or had.
type FileVersion struct {
	ID string // UUIDv7
	Owner
	AgentID   string
	FileID    string
	Path      string // of the file now, or when it was deleted
	Number    int    // File.Version
	Bytes     int    // of Content
	Content   string
	WrittenAt time.Time
}

// CheckFilePath says what is wrong with the path of a file: it is FileRoot and 1 to MaxPathSegments segments, each with
// a slash before it, in Unicode's form NFC. No segment is a dot or two dots, percent-encoded or not, or holds a
// backslash, a control character, or a percent-encoded slash.
func CheckFilePath(path string) string {
	if why := checkText(path, true); why != "" {
		return why
	}
	rest, within := strings.CutPrefix(path, FileRoot+"/")
	segments := strings.Split(rest, "/")
	switch {
	case !within:
		return "does not begin with " + FileRoot + "/"
	case len(path) > MaxPathBytes:
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(path), MaxPathBytes)
	case len(segments) > MaxPathSegments:
		return fmt.Sprintf("has %d segments: at most %d are allowed", len(segments), MaxPathSegments)
	case slices.ContainsFunc(segments, func(s string) bool { return !IsFileName(s) }):
		return "has a segment that is empty, a dot or two dots, or that holds a backslash or an encoded slash"
	case !norm.NFC.IsNormalString(path):
		return "is not in Unicode's form NFC"
	}
	return ""
}

// IsFileName reports whether a segment of a path names an entry of its directory, and nothing else.
func IsFileName(segment string) bool {
	decoded, err := url.PathUnescape(segment)
	if err != nil {
		decoded = segment
	}
	return !slices.Contains([]string{"", ".", ".."}, decoded) && !strings.ContainsAny(segment+decoded, `\`) &&
		!strings.Contains(decoded, "/")
}

// CheckFileContent says what is wrong with the content of a file, which may be empty.
func CheckFileContent(s string) string {
	if len(s) > MaxFileBytes {
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(s), MaxFileBytes)
	}
	return checkText(s, false)
}
