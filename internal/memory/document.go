package memory

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Limits of documents.
const (
	MaxDocumentRunes    = 1 << 20 // characters of a content as it is sent
	MaxDocumentPassages = 2000
	MaxDocumentMetadata = 4 << 10 // bytes of JSON; each passage has a copy, with its citation
	MaxCitedRunes       = 200     // of the headings in a citation
)

// SpeakerDocument is the Speaker of a passage, a memory of TypeMessage that quotes a document.
const SpeakerDocument = "document"

// The fields of a passage's metadata that hold the id of its document, by which filters choose, and its Citation.
const (
	DocumentIDKey = "document_id"
	CitationKey   = "document"
)

// SourceDocument is a text or page that an app gave for a user. Its passages are memories.
type SourceDocument struct {
	ID string // UUIDv7
	Owner
	AgentID     string // of the only agent that sees it; empty: all of the user's agents do
	Ref         string // what names it among those of the user and agent: see RefOf
	ClientID    string // given by the client, or empty
	Title       string // at most MaxTitleRunes, or empty
	URL         string // see CheckDocumentURL, or empty
	ContentType ContentType
	Version     int    // from 1, +1 with each change
	Hash        string // 64 hexadecimal digits: SHA-256 of what the version holds
	Tags        []string
	Metadata    json.RawMessage // a JSON object of at most MaxDocumentMetadata, or nil
	Passages    []Passage       // in the order of the text, at most MaxDocumentPassages
	At          time.Time       // from when the version is
	CreatedAt   time.Time
	ChangedAt   time.Time
	ForgottenAt time.Time // zero: it is not forgotten
}

// Passage is a part of a document, and the memory that holds it.
type Passage struct {
	MemoryID  string `json:"memory_id"`
	Hash      string `json:"hash"`                // 64 hexadecimal digits: SHA-256 of its content
	Forgotten bool   `json:"forgotten,omitempty"` // it was forgotten with the document
}

// Citation says which part of a document a passage is.
type Citation struct {
	ID      string `json:"-"` // of the document, in a field of its own
	Title   string `json:"title,omitempty"`
	URL     string `json:"url,omitempty"`
	Heading string `json:"heading,omitempty"` // the headings above it, as in "Leave > Holiday"
	Passage int    `json:"passage"`           // its place in the document, from 1
	Since   int    `json:"since_version"`     // the first version that has it
}

// ContentType is the form of a document's content.
type ContentType string

// The content types.
const (
	PlainText ContentType = "text/plain"
	Markdown  ContentType = "text/markdown"
	HTML      ContentType = "text/html"
)

// ContentTypes lists every content type.
var ContentTypes = []ContentType{PlainText, Markdown, HTML}

// RefOf is what names a document among those of its user and agent: the client's id, else the URL, else the hash of
// the first version.
func RefOf(clientID, address, hash string) string {
	switch {
	case clientID != "":
		return "id:" + clientID
	case address != "":
		return "url:" + address
	}
	return "hash:" + hash
}

// IsPassage reports whether a memory quotes a document.
func (m *Memory) IsPassage() bool { return m.Type == TypeMessage && m.Speaker == SpeakerDocument }

// Citation returns the citation of a passage; the zero value if the memory is no passage or has lost it.
func (m *Memory) Citation() (c Citation) {
	if m.IsPassage() {
		var metadata struct {
			ID       string   `json:"document_id"`
			Document Citation `json:"document"`
		}
		_ = json.Unmarshal(m.Metadata, &metadata) // a client may have replaced it
		c = metadata.Document
		c.ID = metadata.ID
	}
	return c
}

// Cite returns metadata with a citation.
func (c Citation) Cite(metadata json.RawMessage) json.RawMessage {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(metadata, &fields) // it was checked
	fields[DocumentIDKey], _ = json.Marshal(c.ID)
	fields[CitationKey], _ = json.Marshal(c)
	cited, _ := json.Marshal(fields)
	return cited
}

// CheckDocumentURL returns what is wrong with the URL of a document; "" if nothing is.
func CheckDocumentURL(s string) string {
	if s == "" {
		return ""
	}
	if len(s) > MaxURLBytes {
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(s), MaxURLBytes)
	}
	if why := checkText(s, true); why != "" {
		return why
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || strings.EqualFold(u.Scheme, "data") || strings.EqualFold(u.Scheme, "javascript") {
		return "is not the URL of a page or file, such as https://example.com/handbook"
	}
	return ""
}

// CheckDocumentMetadata returns what is wrong with the metadata of a document; "" if nothing is.
func CheckDocumentMetadata(raw json.RawMessage) string {
	if len(raw) > MaxDocumentMetadata {
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(raw), MaxDocumentMetadata)
	}
	if why := CheckMetadata(raw); why != "" {
		return why
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields)
	for _, key := range []string{DocumentIDKey, CitationKey} {
		if fields[key] != nil {
			return fmt.Sprintf("has the field %q, which names the document in each passage: choose another name", key)
		}
	}
	return ""
}
