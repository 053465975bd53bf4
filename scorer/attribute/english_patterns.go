package attribute

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

const (
	openings = `(?:(?:and|but|so|well|oh|actually|please|hi|hello|now|finally|today|yesterday|these days|` +
		`currently|` +
		`as of \w+|since \w+|from now on|last \w+|this \w+|after [^,]*)[ ,:]+)*`
	adverbs = `(?:(?:am|are|is|have|has|just|now|currently|recently|finally|still|already|officially|been|got|` +
		`gotten|happily|both|all|only|even|do) )*`

	// subject matches the beginning of a clause up to its main verb, if its subject is the user. A statement without
	// a subject ("Lives in Porto.") is about the user.
	subject = `(?i:^` + openings + `(?:(?:i|we|(?:the )?user) )?` + adverbs + `)`
	// person and group match the same beginning with a form of "to be": "I am now ", "is ".
	person = `(?i:^` + openings + `(?:(?:i|(?:the )?user) )?(?:am|is)(?: (?:now|just|currently|already|only|` +
		`still|` +
		`officially|finally|even|happily|recently|been))* )`
	group = `(?i:^` + openings + `(?:(?:i|we|(?:the )?user) )?(?:am|is|are|have been|has been)(?: (?:now|just|` +
		`currently|already|still|officially|finally|happily|recently|both|all|been))* )`
	// acts matches the beginning of a clause with a subject up to its main verb.
	acts = `(?i:^` + openings + `(?:i|we|(?:the )?user) ` + adverbs + `)`
)

// own matches the user's possessive.
const own = `(?i:^(?:(?:and|but|so|well|oh|actually|please|now|from now on|after [^,]*)[ ,:]+)*(?:my|our|` +
	`(?:the )?user's) )`

const capital = `\p{Lu}[\p{L}\p{M}'’.&-]*(?: (?:of |de |da |the )?\p{Lu}[\p{L}\p{M}'’.&-]*)*`

func clause(pattern string) *lazyregexp.Regexp { return lazyregexp.New(subject + pattern) }

func compile(parts ...string) *lazyregexp.Regexp { return lazyregexp.New(strings.Join(parts, "")) }

var (
	unlikely = lazyregexp.New(`(?i)\b(?:translate|if|would|could|might|maybe|perhaps|hope|hopes|want|` +
		`wants|wish|wishes|` +
		`dream|plan|plans|` +
		`planning|thinking|considering|going to|will|'ll|someday|one day|used to|previously|formerly|former|ex-|` +
		`once|back then|` +
		`as a (?:child|kid|teenager|student)|when (?:i|we|user|they)|while|until|years? ago|before|was|were|had|` +
		`for fun|` +
		`in (?:19|20)\d\d|too|also|as well|either|another|second|part-time|volunteer|hobby|free time|weekends?|` +
		`evenings|amateur|aspiring|sometimes|temporarily|for now|this week|tonight|don't|doesn't|not|never|` +
		`no longer)\b`)

	lives = clause(`(?i:(?:lives?|living|resides?|residing|based|settled|settling)(?: \w+ly| down| back| now|` +
		` out)? ` +
		`(?:in|at|near|outside) )(.+)`)
	moved = clause(`(?i:(?:moved|relocated)(?: back| over| out| house| home)?(?: from [\p{L} ]+)? to )(.+)`)
	homed = lazyregexp.New(`(?i:^(?:(?:(?:my|our|(?:the )?user's) (?:new |current )?)?(?:home|place|flat|apartment|` +
		`house)|(?:my|our|(?:the )?user's) (?:new |current )?(?:home city|city|residence|place of residence))` +
		`(?: for me| now)? is (?:now )?)(.+)`)
	place    = lazyregexp.New(`(?:^|\b(?:in|at|near|outside|of|to) )(?:the |a |an )?(` + capital + `)`)
	lowPlace = lazyregexp.New(`^(\p{Ll}+)(?: (?:now|with|and|since|for|near|because|where|again|` +
		`together)\b.*)?$`)
	noPlace = set(`a an the my our this that peace fear hope debt town here there somewhere another different new bed it
		student dorms halls`)

	works = clause(`(?i:(?:works?|working|employed)(?: now| currently| full[- ]time| remotely)* (?:at|for|` +
		`by) )(.+)`)
	joins = clause(`(?i:(?:started(?: work| working)?|hired|taken on|(?:starts?|started|accepted|took|has|` +
		`have|got) ` +
		`(?:a |my |the )?(?:new )?(?:job|position|role)) (?:at|by) )(.+)`)
	joined   = clause(`(?i:joined )(.+)`)
	switched = clause(`(?i:(?:switched|moved|changed|transferred)(?: over| jobs)? to )(.+)`)
	employed = lazyregexp.New(own + `(?i:(?:new |current )?(?:employer|company|firm) is (?:now )?)(.+)`)
	company  = lazyregexp.New(`^(?i:the |a |an )?(` + capital + `)`)
	workshop = lazyregexp.New(`(?i)^((?:[\p{L}'’.-]+ ){0,4}?(?:library|hospital|clinic|bookshop|bookstore|` +
		`school|university|college|` +
		`bank|start-?up|company|firm|agency|restaurant|caf[eé]|bakery|shop|store|museum|ministry|newspaper|lab|` +
		`laboratory|` +
		`institute|factory|hotel|pharmacy|council|charity|studio|supermarket|theatre|theater|airline|` +
		`practice))(?: called ([\p{L}\p{N}'’.-]+))?` +
		`(?:$| (?:as|now|in|since|on|last|this|again|near|for|with|by|at|where|part|full)\b)`)
	leisure = lazyregexp.New(`(?i)\b(?:club|gym|choir|class|course|team|band|group|church|league|` +
		`association|` +
		`party|army)\b`)

	occupied = compile(group, `(?i:(?:an? |the ))((?:[\p{L}'-]+ ){0,3}?`, occupations, `)(?:[ .,;!]|$)`)
	became   = clause(`(?i:(?:promoted to|became|become|turned|retrained as|qualified as) (?:an? |the )?)` +
		`((?:[\p{L}'-]+ ){0,3}?` + occupations + `)(?:[ .,;!]|$)`)
	asJob = clause(`(?i:(?:works?|working|hired|employed) as (?:an? |the )?)([\p{L}'’ -]+)`)
	myJob = lazyregexp.New(own + `(?i:(?:new |current )?(?:job|profession|` +
		`occupation) is (?:now )?(?:being |as )?(?:an? |the )?)([\p{L}'’ -]+)`)
	jobEnd = lazyregexp.New(`(?i) (?:now|at|in|for|these|with|since|by|again|and|on|from|currently)\b.*$`)

	named   = lazyregexp.New(own + `(?i:(?:full |real |new )?name(?: is|'s)(?: now)? )(` + capital + `)`)
	known   = compile(person, `(?i:(?:called|named) )(`, capital, `)`)
	renamed = clause(`(?i:(?:changed|changes) (?:my|their|his|her) name to )(` + capital + `)`)
	call    = lazyregexp.New(`(?i:^(?:(?:please|so|from now on|just|and|everyone|` +
		`people)[ ,]+)*(?:call (?:me|` +
		`user)|calls me|` +
		`(?:i |user )?(?:prefers? to be called|wants? to be called|goes by|go by)) )(` + capital + `)`)

	turned = clause(`(?i:turned )` + years)
	aged   = compile(person, `(?i:turning )?`, years)
	ageIs  = lazyregexp.New(own + `(?i:age is (?:now )?)(\d{1,3})`)

	status = compile(group, `(?i:getting |in the process of )?`, `((?i:single|divorced|divorcing|widowed|`+
		`married|dating)|`+
		`(?i:engaged|separated)(?: to\b|$| now| from\b| since)|(?i:in a relationship|seeing someone)|seeing \p{Lu})`,
		`(?:[^-\p{L}]|$|\p{Ll})`)
	marries = clause(`(?i:(?:split|broke|broken) up|divorced|got married|married \p{L}+|in a relationship|` +
		`engaged to)\b`)
	partner = compile(acts, `(?i:(?:have|has|got|found) (?:an? )(?:new )?(girlfriend|boyfriend|fiancée?|`+
		`fiance|wife|husband)\b)`)
	statusOf = []struct{ word, status string }{{"single", "alone"}, {"divorc", "alone"}, {"widowed", "alone"},
		{"separated", "alone"}, {"up", "alone"}, {"married", "married"}, {"wife", "married"}, {"husband", "married"},
		{"engaged", "engaged"}, {"fianc", "engaged"}}

	ownPhone = lazyregexp.New(own + `(?i:((?:\w+ ){0,2}?)(?:phone|mobile|cell|telephone|` +
		`number)(?: phone)?(?: number)?` +
		`(?: has changed to| changed to| is now| is|:)+ ?)(\+?\d[\d ()./-]{4,}\d)`)
	newPhone = clause(`(?i:(?:a |my )?new (?:phone |mobile |cell )?number(?: is|:)? ?)(\+?\d[\d ()./-]{4,}\d)`)
	callMe   = lazyregexp.New(`(?i:(?:reach|call|text|ring|phone) me (?:on|at|under) |` +
		`user can be (?:reached|` +
		`called) (?:on|at) )` +
		`(?i:my (?:new )?(?:number|mobile|phone) )?(\+?\d[\d ()./-]{4,}\d)`)
	address  = lazyregexp.New(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\.\p{L}+`)
	ownEmail = lazyregexp.New(own + `(?i:((?:\w+ ){0,2}?)e-?mail(?: address)?(?: has changed to| changed to|` +
		` is now| is|:)+ ?)$`)
	writeMe = lazyregexp.New(`(?i:(?:reach|contact|write to|write|mail|email|e-mail) me (?:at|on|under)|` +
		`user can be (?:reached|` +
		`contacted) (?:at|on)|new e-?mail(?: address)?(?: is|:)?) ?$`)

	isDiet = compile(group, `(?i:(?:an?|on a|on the|eating|strictly|mostly|mainly|back to|back to eating|`+
		`following an?|a strict) )*`,
		diets)
	eats = compile(acts, `(?i:(?:gone|went|turned|became|become|eats?|follows?|started|stick to) (?:(?:an?|`+
		`the|eating|`+
		`strictly|mostly|mainly|back to|only|strict) )*)`, diets)
	gone     = compile(acts, `(?i:(?:gone|go|going) )?`, diets)
	meatless = lazyregexp.New(`(?i)^(?:i|we|(?:the )?user) (?:do not|don't|doesn't|stopped|have stopped|` +
		`has stopped|no longer|quit) (?:eat|eats|eating) (?:any )?meat\b`)

	answers = lazyregexp.New(`(?i)(?:^|[,;.] )(?:from now on,? |and |so |ok(?:ay)?,? )*(?:(?:please|` +
		`i(?:'d| would)? ` +
		`(?:like|want|prefer|need)|(?:the )?user (?:wants?|prefers?|would like|likes)|you (?:should|` +
		`can))\b.{0,30}?)?` +
		`\b(?:answer|answers|answered|reply|replies|respond|responses?|(?:talk|speak|write|chat|communicate) ` +
		`(?:to|with) (?:me|us|user)|talk|speak|chat)\b.{0,30}?\bin (` + languages + `)\b`)
	talks = lazyregexp.New(`(?i)\blet(?:'s| us) (?:talk|speak|chat|converse|continue|` +
		`switch)(?: \w+)? (?:in|to) (` + languages + `)\b`)
	prefers = lazyregexp.New(own + `(?i:preferred language (?:for \w+ )?is (?:now )?)(` + languages + `)\b`)
)

// years matches an age at the end of a clause; diets matches a diet.
const (
	years = `(\d{1,3}|(?i:` + tens + `(?:[ -]` + units + `)?|` + units + `|` + teens + `))` +
		`(?i:(?: years? old| yrs old|-year-old)?(?: now| today| yesterday| already| last \w+| this \w+| on \w+)*)$`
	diets = `(?i:(vegan|vegetarian|pescatarian|pescetarian|keto|paleo|carnivore|omnivore|meat|everything)` +
		`(?: diet| now| again| person| these days| food| since .*| for .*| because .*)*)$`
)

const (
	units = `(?:one|two|three|four|five|six|seven|eight|nine)`
	teens = `(?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)`
	tens  = `(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)`

	languages = `(?:English|Spanish|German|French|Italian|Portuguese|Chinese|Mandarin|Cantonese|Japanese|Korean|` +
		`Russian|Polish|` +
		`Dutch|Swedish|Norwegian|Danish|Finnish|Czech|Turkish|Arabic|Hebrew|Hindi|Greek|Ukrainian|Hungarian|` +
		`Romanian|` +
		`Vietnamese|Thai|Indonesian|Catalan)`

	occupations = `(?i:nurse|doctor|physician|surgeon|dentist|paramedic|midwife|pharmacist|vet|veterinarian|` +
		`therapist|` +
		`psychologist|psychiatrist|physiotherapist|carer|caregiver|teacher|lecturer|professor|tutor|lawyer|` +
		`attorney|` +
		`judge|` +
		`solicitor|paralegal|notary|accountant|auditor|bookkeeper|banker|cashier|clerk|secretary|receptionist|` +
		`assistant|` +
		`manager|director|executive|officer|CEO|CTO|CFO|founder|consultant|analyst|advisor|adviser|engineer|` +
		`developer|` +
		`programmer|tester|designer|researcher|scientist|architect|administrator|technician|electrician|plumber|` +
		`carpenter|` +
		`joiner|builder|mason|painter|welder|mechanic|driver|pilot|steward|stewardess|sailor|captain|courier|` +
		`farmer|` +
		`gardener|florist|baker|butcher|chef|cook|waiter|waitress|barista|bartender|hairdresser|barber|tailor|` +
		`cleaner|` +
		`janitor|guard|policeman|policewoman|detective|firefighter|soldier|journalist|reporter|editor|writer|` +
		`author|` +
		`translator|interpreter|librarian|bookseller|photographer|filmmaker|producer|actor|actress|musician|singer|` +
		`dancer|` +
		`artist|illustrator|animator|salesman|saleswoman|salesperson|realtor|broker|trader|recruiter|planner|` +
		`coordinator|supervisor|foreman|economist|statistician|chemist|biologist|physicist|geologist|historian|` +
		`postman|` +
		`coach|trainer|instructor|student|intern|apprentice|trainee|pensioner|retiree)`
)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}
