package frame

import (
	"bytes"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"hippocampus/internal/memory"
)

// readBody reads a JSON body of at most limit bytes.
func readBody(r *Request, limit int64) ([]byte, error) {
	if err := CheckMedia(r, echo.MIMEApplicationJSON); err != nil {
		return nil, err
	}
	return readLimited(r, limit)
}

// readLimited reads a body of at most limit bytes.
func readLimited(r *Request, limit int64) ([]byte, error) {
	size := r.Request().ContentLength
	tooLarge := memory.Errorf(memory.KindTooLarge, "the body is over %d bytes: send less at once", limit)
	if size > limit {
		return nil, tooLarge
	}
	var body bytes.Buffer
	body.Grow(int(min(max(size, 0), 64<<10)) + bytes.MinRead) // do not trust a large Content-Length
	_, err := body.ReadFrom(http.MaxBytesReader(r.Response(), r.Request().Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		r.Response().Header().Set(echo.HeaderConnection, "close") // what follows may be the rest of the body
		return nil, memory.Errorf(memory.KindInvalid, "the body broke off: send it again")
	}
	return body.Bytes(), nil
}

// discardLimit bounds how many bytes of a refused body are read.
const discardLimit = 64 << 20

// discard reads the rest of the body of a refused request. Most clients read the answer only after they have sent the
// body, and would see a broken connection instead of it. A client that waits for permission to send gets the answer at
// once.
func discard(r *http.Request) {
	if r.Body != nil && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, discardLimit)
	}
}

// CheckMedia requires an uncompressed body of one media type in UTF-8.
func CheckMedia(r *Request, want string) error {
	header := r.Request().Header
	media, parameters, err := mime.ParseMediaType(header.Get(echo.HeaderContentType))
	if err != nil || media != want {
		return echo.NewHTTPError(http.StatusUnsupportedMediaType,
			"The body must be of another type: send the header `Content-Type: "+want+"`.")
	}
	switch charset := parameters["charset"]; strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii":
	default:
		return memory.Invalid(memory.Field{
			Path: "header.Content-Type", Message: "names the charset " + strconv.Quote(clip(charset)) + ": send UTF-8",
		})
	}
	if header.Get(echo.HeaderContentEncoding) != "" {
		return echo.NewHTTPError(http.StatusUnsupportedMediaType,
			"The body must not be compressed: send it without Content-Encoding.")
	}
	return nil
}

// Limits of a body's JSON. Without them, a body of 16 MiB with a field in every
// 12 bytes took 2 s of CPU.
const (
	// MaxDepth bounds the levels of nested objects and arrays.
	MaxDepth  = 32
	maxValues = 1_000_000 // names of fields count also
)

// maxMountValues bounds the values of a body that a mount decodes, names included, as maxValues bounds those of other
// bodies.
const maxMountValues = 100_000

// checkMountValues refuses a JSON body of too many values before a mount decodes it.
func checkMountValues(r *Request, body []byte) error {
	media, _, _ := mime.ParseMediaType(r.Request().Header.Get(echo.HeaderContentType))
	if !strings.HasPrefix(media, "text/") && countValues(body) > maxMountValues {
		return memory.Errorf(memory.KindInvalid,
			"the body has more than %d names and values: send less at once", maxMountValues)
	}
	return nil
}

// countValues counts what follows a bracket, a colon or a comma outside of the strings of a JSON text.
func countValues(raw []byte) (n int) {
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			quoted = !quoted
		case '\\':
			i++ // escapes occur in strings alone
		case '[', '{', ',', ':':
			if !quoted {
				n++
			}
		}
	}
	return n
}

// parseObject reads exactly one JSON object, more strictly than encoding/json: it
// refuses invalid UTF-8, half surrogate pairs, NUL characters, repeated fields,
// numbers outside the range of a float64, deep nesting, and too many values.
func parseObject(raw []byte) (map[string]any, *memory.Field) {
	return ParseBounded(raw, MaxDepth, maxValues)
}

// ParseBounded is parseObject with other limits: levels of nesting, and names and values.
func ParseBounded(raw []byte, depth, values int) (map[string]any, *memory.Field) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, &memory.Field{Path: "body", Message: "is empty: send a JSON object"}
	case !utf8.Valid(raw):
		return nil, &memory.Field{Path: "body", Message: "is not valid UTF-8"}
	}
	p := parser{
		dec:   jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true)),
		depth: depth, values: values, left: values,
	}
	value, fault := p.value(0)
	if fault != nil {
		if fault.Path == "" || fault.Message == halfSurrogate || p.left < 0 {
			fault.Path = "body"
		}
		return nil, fault
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, &memory.Field{Path: "body", Message: "is not a JSON object"}
	}
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &memory.Field{Path: "body", Message: "holds more than one JSON object"}
	}
	return object, nil
}

type parser struct {
	dec    *jsontext.Decoder
	depth  int // greatest number of levels
	values int // greatest number of names and values
	left   int // names and values that may still follow
}

// value reads one value. The path of a fault is relative to it.
func (p *parser) value(depth int) (any, *memory.Field) {
	token, err := p.dec.ReadToken()
	if err != nil {
		return nil, p.notJSON(err)
	}
	p.left--
	if p.left < 0 {
		return nil, &memory.Field{Message: "has more than " + strconv.Itoa(p.values) + " names and values: send less at once"}
	}
	switch token.Kind() {
	case '[', '{':
		if depth == p.depth {
			return nil, &memory.Field{Message: "is nested deeper than " + strconv.Itoa(p.depth) + " levels"}
		}
		if token.Kind() == '[' {
			return p.array(depth + 1)
		}
		return p.object(depth + 1)
	case '0':
		return number(token.String())
	case '"':
		text := token.String()
		if strings.IndexByte(text, 0) >= 0 {
			return nil, &memory.Field{Message: "holds a NUL character"}
		}
		return text, nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

func (p *parser) array(depth int) (any, *memory.Field) {
	items := []any{}
	for p.dec.PeekKind() != ']' {
		item, fault := p.value(depth)
		if fault != nil {
			fault.Path = joinPath("["+strconv.Itoa(len(items))+"]", fault.Path)
			return nil, fault
		}
		items = append(items, item)
	}
	return items, p.end()
}

func (p *parser) object(depth int) (any, *memory.Field) {
	fields := map[string]any{}
	for p.dec.PeekKind() != '}' {
		key, fault := p.value(p.depth)
		if fault != nil {
			return nil, fault
		}
		name, _ := key.(string) // the decoder accepts no other key
		if _, repeated := fields[name]; repeated {
			return nil, &memory.Field{Path: clip(name), Message: "is given more than once"}
		}
		value, fault := p.value(depth)
		if fault != nil {
			fault.Path = joinPath(clip(name), fault.Path)
			return nil, fault
		}
		fields[name] = value
	}
	return fields, p.end()
}

// end reads the closing bracket.
func (p *parser) end() *memory.Field {
	if _, err := p.dec.ReadToken(); err != nil {
		return p.notJSON(err)
	}
	return nil
}

const halfSurrogate = `holds half of a surrogate pair (\ud800 to \udfff alone)`

func (p *parser) notJSON(err error) *memory.Field {
	if strings.Contains(err.Error(), "invalid surrogate pair") {
		return &memory.Field{Message: halfSurrogate}
	}
	return &memory.Field{Message: "is not JSON: wrong at byte " + strconv.FormatInt(p.dec.InputOffset(), 10)}
}

func number(text string) (any, *memory.Field) {
	f, err := strconv.ParseFloat(text, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if err != nil || math.IsInf(f, 0) || f == 0 && strings.ContainsAny(mantissa, "123456789") {
		return nil, &memory.Field{Message: "is a number outside the range of a float64"}
	}
	return f, nil
}
