package scorer

import "hippocampus/internal/memory"

// Building blocks of the English patterns.
const (
	enAdverb = `(?: (?:really|also|still|just|actually|currently|now|always|usually|absolutely|totally|` +
		`truly|mostly|often|` +
		`only|already|both|definitely|generally|recently|finally|originally|even|kind of|quite|` +
		`very|so|super|mainly|secretly))*`
	enAm  = `\bi(?:'m| am)` + enAdverb
	enI   = `\bi(?:'ve| have)?` + enAdverb
	enWe  = `\b(?:i|we)(?:'ve| have)?` + enAdverb
	enKin = `(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|` +
		`parents?|sisters?|brothers?|` +
		`sons?|daughters?|kids?|child|children|baby|twins|grand(?:ma|pa|mother|father|son|` +
		`daughter|parents)|uncle|aunt|cousins?|niece|nephew|` +
		`friends?|roommate|flatmate|colleagues?|coworkers?|neighbou?rs?|dogs?|cats?|puppy|` +
		`puppies|kittens?|pets?|parrot|hamster|rabbits?|horse|in-laws|family)`
	enJob = `(?:engineer|developer|programmer|designer|teacher|professor|doctor|nurse|lawyer|student|` +
		`scientist|researcher|manager|` +
		`accountant|writer|author|journalist|artist|musician|photographer|chef|cook|driver|pilot|` +
		`architect|analyst|consultant|nanny|` +
		`salesman|saleswoman|salesperson|founder|ceo|cto|freelancer|contractor|intern|postdoc|` +
		`phd|barista|waiter|waitress|farmer|` +
		`electrician|plumber|carpenter|mechanic|dentist|pharmacist|therapist|psychologist|` +
		`veterinarian|vet|translator|editor|` +
		`firefighter|police officer|soldier|librarian|secretary|assistant|actor|actress|tutor|` +
		`coach|trainer|biologist|chemist|physicist|economist|baker|tailor|gardener)`
	enWeekday = `(?:mon|tues|wednes|thurs|fri|satur|sun)day`
	enDate    = `(?:\btomorrow\b|\bnext (?:week|weekend|month|year|spring|summer|autumn|fall|winter|semester|` +
		enWeekday + `)|` +
		`\bthis (?:weekend|week|month|year|summer|winter|spring|fall|autumn|` + enWeekday +
		`)|\b(?:on|by|until|every) ` + enWeekday + `|` +
		`\bin (?:an?|two|three|four|five|six|ten|\d+) (?:hours?|days?|weeks?|months?|years?)|` +
		`\b(?:on|in|by|until|before|of) (?:\w+ )?(?:january|february|march|april|may|june|july|` +
		`august|september|october|november|december)\b|` +
		`\b(?:january|february|march|april|june|july|august|september|october|november|december) \d|` +
		`\b\d{4}-\d\d-\d\d\b|\bat \d{1,2}(?::\d\d)? ?(?:am|pm|a\.m|p\.m|o'clock)|` +
		`\bthe \d{1,2}(?:st|nd|rd|th)\b|\bin 20\d\d\b|\bat (?:noon|midnight)|\bby the end of\b)`
)

var english = compile(language{
	command: `^(?:(?:please|and|so|also|ok(?:ay)?|hey),? )*(?:remember(?: that|:| this|,)? (?:i|i'm|i've|` +
		`my|we|our|the|this|to|that)\b|remember(?: that|:)|note that|keep in mind|make a note|` +
		`don't forget(?: that)? (?:i|i'm|my|we|our)\b)`,
	question: `\?["')]*$|^(?:(?:and|so|but|hey|hi|ok|well),? )?(?:what|how|why|when|where|who|whom|which|` +
		`whose|can you|could you|would you|will you|do you|did you|does|are you|is it|is there|should i|shall|may i|` +
		`can i|am i)\b`,
	tail: `,? (?:what|how|and you|do you|can |could |would |should |is |are |right|isn't|don't|any |` +
		`where|which|who|when|why|you)[^,]*\?["')]*$`,
	secret: `\b(?:passwords?|passcode|pin code|api key|secret key|credit card)\b`,
	refuse: []string{
		`^(?:hi|hello|hey|good (?:morning|evening|afternoon|night)|thanks?|thank you|thx|bye|` +
			`goodbye|see you|cheers|welcome|ok(?:ay)?|yes|yeah|yep|no|nope|sure|great|cool|nice|wow|lol|haha+|right|` +
			`fine|please|sorry|hmm+)(?:[ ,]+(?:there|you|so much|a lot|very much|again|everyone|all|man|dear|later|` +
			`much))*[ .!,]*$`,
		`^(?:(?:please|hey|ok|now|so|then),? )*(?:help|tell|give|write|translate|explain|show|` +
			`find|make|create|list|summari[sz]e|generate|recommend|suggest|describe|draft|fix|check|look up|search|` +
			`let me know|let's|imagine|pretend|suppose|act as)\b`,
		`\bi (?:want|need|would like) you to\b|\bi'd like (?:you )?to (?:know|ask|see)|` +
			`\bi need (?:some |your )?help\b|\bi have a (?:quick )?question|\bi(?:'m| was) (?:just )?wondering|` +
			`\bi'm looking for\b`,
		`\bif (?:i|we|only|you|my)\b|^if\b|\bi wish\b|\bwhat if\b|\bhypothetically\b|` +
			`\bi (?:might|may|could|would|wouldn't|should)\b|\bi'd\b|\bmaybe\b|\bperhaps\b|\bprobably not\b|` +
			`\bi used to (?:think|believe)`,
		`\bi (?:don't|do not) (?:know|mind|care|understand|think|remember|get it)\b|` +
			`\bi'm not (?:really )?sure\b|\bi (?:guess|suppose|see|agree|understand|mean|hope)\b|\bi have no idea\b`,
		`^["'].*["'] (?:is|means)\b`,
	},
	patterns: []pattern{
		// Who the user is.
		{
			says:   `\bmy (?:full |first |last |real |middle |nick)?(?:sur)?name(?:'s| is) \w`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},
		{says: `\b(?:call|calls) me (?-i:[A-Z])`, domain: memory.Preferences, kind: aPreference, importance: vital},
		{
			says:   `\b(?-i:I)(?:'m| am) (?-i:[A-Z])[a-z]+(?:[.!,]|$| and\b| from\b)`,
			unless: `(?-i:I)(?:'m| am) (?:American|British|Chinese|German|French|Indian|OK|Sorry|Done|` + `Fine)`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},
		{
			says: enAm + ` (?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy)(?:[- ]\w+)?)(?: years old|` +
				` yo\b|\s*$|[.,!]| and\b)`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},
		{
			says:   `\bmy birthday(?:'s| is)|\bi was born (?:in|on)|\bmy age is|` + `\bi (?:just )?turn(?:ed)? \d\d`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},
		{
			says:   `\bmy (?:native language|mother tongue|first language|pronouns|nationality)`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},
		{
			says: enAm + ` (?:an? )?(?:allergic|lactose|gluten|coeliac|celiac|diabetic|colou?r-?blind|` +
				`left-handed|vegan|vegetarian|pescatarian|introvert|extrovert)|\ballerg(?:y|ies) to\b|\bi (?:have|` +
				`'ve got) (?:an? )?[\w ]*\ballerg(?:y|ies)`,
			unless: `\bnot allergic`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},
		{
			says:   `\bi (?:can't|cannot|don't|do not|never) (?:eat|drink|smoke)\b`,
			domain: memory.Preferences, kind: aPreference, importance: strong,
		},

		// What the user likes.
		{
			says: enI + ` (?:like|love|loved|enjoy|adore|prefer|hate|dislike|detest|despise|can't stand|` +
				`cannot stand|can't bear)\b`,
			unless: `(?:like|love|hate|enjoy|prefer)d? (?:it|that|this|you|your|how you|what you|` +
				`the way you)\b`,
			domain: memory.Preferences, kind: aPreference, importance: strong,
		},
		{
			says:   `\bi (?:don't|do not|never)(?: really| much)? (?:like|enjoy|love|want to be)\b`,
			unless: `\b(?:like|love|enjoy) (?:it|that|this|you|your)\b`,
			domain: memory.Preferences, kind: aPreference, importance: strong,
		},
		{
			says:   `\bmy (?:all-time )?favou?rites?\b.*\b(?:is|are|was)\b|\bis my favou?rite`,
			domain: memory.Preferences, kind: aPreference, importance: strong,
		},
		{
			says: enAm + ` (?:an? )?(?:big |huge |massive )?(?:fan of|fond of|into|obsessed with|keen on|` +
				`crazy about|addicted to|scared of|afraid of|terrified of|interested in|passionate about)\b`,
			unless: `afraid (?:that|i)\b`,
			domain: memory.Preferences, kind: aPreference, importance: firm,
		},
		{
			says: `\b(?:please )?(?:always|never) (?:answer|reply|respond|use|call|address|write|speak|` +
				`send)\b|\bfrom now on\b|\bkeep (?:your )?(?:answers|replies|responses)`,
			domain: memory.Preferences, kind: aPreference, importance: strong,
		},

		// Work and study.
		{
			says:   enAm + ` (?:an? |the )?(?:[\w-]+ ){0,4}` + enJob + `\b`,
			unless: enAm + ` (?:not|looking|talking|waiting|seeing|meeting)\b`,
			domain: memory.Profession, kind: aFact, importance: vital,
		},
		{
			says: enI + ` (?:been )?(?:work|worked|working) (?:as|at|for|in|with|from|remotely|part-time|` +
				`full-time|nights)\b|` + enAm + ` (?:working|employed) (?:as|at|for|in|by|remotely)\b`,
			domain: memory.Profession, kind: aFact, importance: 0.85,
		},
		{
			says:   enAm + ` (?:working on|building|developing|writing) (?:an?|my|the|our)\b`,
			domain: memory.Profession, kind: aProject, importance: 0.75,
		},
		{
			says: `\bmy (?:\w+ )?(?:job|company|boss|employer|profession|career|startup|team|office|` +
				`manager|major|minor|thesis|dissertation|degree|school|university|professor|advisor|supervisor|` +
				`salary|project|deadline)(?:'s| is| are| was| at| in| has| starts?| ends?)`,
			domain: memory.Profession, kind: aFact, importance: strong,
		},
		{
			says: enI + ` (?:study|studied|major(?:ed)? in|graduated|teach|taught|run (?:an?|` +
				`my) (?:\w+ )?(?:company|business|startup|shop|bakery|restaurant)|founded|started (?:an?|` +
				`my) (?:\w+ )?(?:company|business|job|startup|degree)|got (?:promoted|hired|fired|a (?:new )?job)|` +
				`quit my job|was (?:laid off|promoted))\b|` + enAm +
				` (?:studying|majoring|doing (?:an?|my) (?:phd|master|degree)|teaching|learning)\b|` +
				`\bi've been (?:studying|teaching|learning)\b`,
			domain: memory.Profession, kind: aFact, importance: strong,
		},
		{
			says: `\bi (?:code|program|write code|develop) in \w|\bi speak (?:\w+ )?(?-i:[A-Z])|` + enAm +
				` (?:fluent in|experienced (?:in|with)|good at|certified)`,
			domain: memory.Profession, kind: aSkill, importance: 0.75,
		},

		// People and pets.
		{
			says: `\bmy (?:[\w-]+ ){0,2}` + enKin +
				`(?:'s)?(?: [\w']+){0,2},? (?:is|are|was|were|has|have|works?|lives?|loves?|likes?|` +
				`hates?|got|name|called|named|passed|died|moved|studies|study|turns?|plays?|speaks?|had|just|` +
				`was born|graduated)\b`,
			domain: memory.Social, kind: aFact, importance: strong,
		},
		{
			says:   `\bmy (?:[\w-]+ ){0,2}` + enKin + `,? (?-i:[A-Z])[a-z]`,
			domain: memory.Social, kind: aFact, importance: strong,
		},
		{
			says: `\bi (?:have|'ve got|got|adopted|raise|keep)(?: \w+)? (?:an?|one|two|three|four|five|` +
				`no|\d|my)? ?(?:[\w-]+ ){0,2}` + enKin + `\b|\bi've got (?:an?|two|three) (?:\w+ )?` + enKin + `\b`,
			domain: memory.Social, kind: aFact, importance: strong,
		},
		{
			says: `\b(?:i'm|i am|we're|we are|i got|we got|i've been)` + enAdverb +
				`(?: \w+ (?:weeks|months))? (?:married|engaged|divorced|single|dating|pregnant|` +
				`expecting|widowed|separated)\b`,
			domain: memory.Social, kind: aFact, importance: 0.85,
		},

		// Home, health and habits.
		{
			says: enI + ` (?:live|lived|reside|moved|relocated|settled|rent|been living)(?: \w+)? (?:in|to|` +
				`at|near|with|outside|on|an?)\b|` + enAm + ` (?:living|based|staying) (?:in|at|near|with)\b`,
			domain: memory.Lifestyle, kind: aFact, importance: 0.85,
		},
		{
			says: enAm + ` from (?-i:[A-Z])|\bi (?:come|came) (?:originally )?from\b|\bi grew up (?:in|on|` +
				`near)\b|\bmy (?:home ?town|home|house|flat|apartment|address) (?:is|has|was)\b`,
			domain: memory.Lifestyle, kind: aFact, importance: 0.85,
		},
		{
			says: `\bi (?:have|suffer from|was diagnosed with|got diagnosed with) (?:\w+ )?(?:asthma|` +
				`diabetes|migraines?|insomnia|arthritis|adhd|depression|anxiety|epilepsy|high blood pressure|` +
				`back pain|celiac)|\bi was diagnosed\b|\bi (?:broke|injured|sprained) my\b`,
			domain: memory.Lifestyle, kind: aFact, importance: 0.85,
		},
		{
			says: enI + ` (?:been )?(?:play(?:ing|ed)?|collect(?:ing)?|paint|bake|knit|garden|meditate|climb|` +
				`surf|ski|sing|jog|swim|hike|cycle|dance|do yoga|go (?:running|hiking|swimming|climbing|fishing|` +
				`camping|cycling|to the gym)|practi[cs]e)\b|\bmy (?:main )?hobb(?:y|ies)`,
			unless: `\bplay(?:ed|ing)? (?:it|along|around|with (?:this|that|it))\b`,
			domain: memory.Lifestyle, kind: aFact, importance: 0.75,
		},
		{
			says: `\bi (?:\w+ ){1,6}(?:every (?:single )?(?:day|morning|evening|night|week|weekend|` +
				`month|year|` + enWeekday + `)|(?:once|twice|three times) a (?:day|week|month|year))\b`,
			domain: memory.Lifestyle, kind: memory.Type("pattern"), importance: 0.75,
		},
		{
			says: `\bi (?:own|drive|bought|just bought|have) (?:an? )?(?:\w+ ){0,2}(?:car|house|flat|` +
				`apartment|bike|bicycle|motorbike|boat|tesla|toyota|guitar|piano|violin|laptop|iphone)\b`,
			domain: memory.Lifestyle, kind: aFact, importance: firm,
		},

		// Plans and decisions.
		{
			says: `\b(?:i|we|my|our)\b.*\b(?:will|going to|have|has|got|need|must|plan|planning|` +
				`scheduled|booked|due|starts?|ends?|flying|fly|leaving|leave|meeting|moving|visiting|travell?ing|` +
				`taking|giving|getting|attending|starting|hosting|running|seeing|coming|visits?|is|are)\b.*` + enDate +
				`|\b(?:i|we)'ll\b.*` + enDate + `|` + enDate +
				`.*\b(?:i|we)(?:'m|'re| am| are|'ll| will| have| need| must)\b`,
			unless: `\b(?:feeling|thinking|wondering)\b|\bsee you\b|\btalk to you\b|\bwill (?:rain|snow|` +
				`be (?:sunny|cold|hot|warm))`,
			domain: memory.Tasks, kind: aTask, importance: 0.85,
		},
		{
			says: `\b(?:i|we)(?:'m|'re| am| are)? (?:plan|intend|planning|aiming) (?:to|on)\b|` +
				`\bmy (?:goal|plan|dream|new year's resolution|resolution) (?:is|for)\b`,
			domain: memory.Tasks, kind: aTask, importance: 0.75,
		},
		{
			says: `\bremind me\b|\bdon't let me forget\b|\bi have (?:an? |my )(?:\w+ )?(?:appointment|` +
				`deadline|exam|interview|flight)\b`,
			domain: memory.Tasks, kind: aTask, importance: strong,
		},
		{
			says: enWe + ` (?:decided|chosen|chose|settled on|made up my mind|committed to|switched (?:to|` +
				`from)|given up|gave up|quit|stopped|signed up|enrolled|resolved|agreed)\b`,
			unless: `\bquit (?:my job|asking)|\bstopped (?:by|working)\b`,
			domain: memory.Tasks, kind: aDecision, importance: strong,
		},

		// Anything else that the user says of themselves.
		{says: `\b(?:i|my)\b(?:'\w+)?(?: [\w',-]+){3,}`, domain: memory.GeneralChat, kind: aRemark, importance: weak},
	},
})
