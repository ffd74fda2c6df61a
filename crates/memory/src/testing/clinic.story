repo clinic
E uv run wards sync | fetching rota / rota export is locked by another session / sync gave up | uv run wards unlock --force
? sync the wards with the rota
> wards sync gives up: rota export is locked by another session
> the rota export is locked again
> sync says locked by another session, what now
E ./gradlew bedboard | > Task :bedboard / Could not resolve com.acme:hl7-lite:2.4 / BUILD FAILED in 6s | ./scripts/seed-maven-mirror
? build the bed board
> bedboard: Could not resolve com.acme:hl7-lite:2.4
> gradle cannot resolve hl7-lite
> hl7-lite is not resolved when building the bed board
E dotnet run --project Labels | loading printer map / Unhandled exception. System.IO.InvalidDataException: label stock 'A7x' unknown / at Labels.Stock.Find | dotnet run --project Tools -- stock add A7x
? print the sample labels
> labels crash: InvalidDataException label stock 'A7x' unknown
> unknown label stock A7x
> the label printing dies over stock A7x again
E mix lab.replay | replaying 40 messages / ** (DBConnection.ConnectionError) connection not available and request was dropped from queue / 0 replayed | mix lab.pool --size 20
? replay the lab messages from friday
> lab.replay: connection not available and request was dropped from queue
> replaying lab messages ends with dropped from queue
> request was dropped from queue in mix lab.replay
R log when a badge is refused | Nurses stay out of the logs by name, the badge number is what we write | badge number in logs, not the name of the nurse
> log who opened the drug cabinet
> add logging to the badge reader
> the audit log should show which nurse signed
R add a dose column | doses are milligrams as integers all the way down | mg as whole numbers for every dose, no floats
> store the new dose of the night medication
> add the maximum dose to the plan
> compute the total dose per day
R write a test for discharge | every test patient is from people.json, nobody invents patients | test patients come out of people.json
> add a test for a patient with two wards
> write tests for the transfer of a patient
> a test patient without insurance is missing
R change the error text for lost cards | patients read our error texts, so there is no jargon and no code in them | error texts: plain words, no codes, patients see them
> improve the error text of the check-in screen
> what should the error say when the card is expired?
> reword the error about missing insurance
R add the vitals endpoint | whoever adds an endpoint describes it in openapi.yaml too | a new endpoint is described in openapi.yaml, always
> add an endpoint for allergies
> we need an endpoint that lists visits
> expose the waiting time as an endpoint
C give me the occupancy report for may | the occupancy report please, for june | uv run wards report occupancy --month 2026-05
> I need the occupancy report of july
> occupancy report for this month
> make the report on occupancy
C start the simulator of the lab | bring the lab simulator up | docker compose -f lab/compose.yml up -d simulator
> is the lab simulator up? start it
> start the simulator please, I want to test
> bring up the lab simulator again
C reset the training database | training database back to the start | ./scripts/reset-training --keep-users
> reset the database for the training tomorrow
> training starts soon, put its database back
> can you reset training
C check the forms for accessibility | run the accessibility check on the forms | npx pa11y-ci --config forms/pa11y.json | sh: axe: not found | axe forms
> accessibility check of the forms, please
> are the forms accessible? run the check
> run the check for accessibility again
N Rename the visit controller
N explain how a bed gets its colour
N why is the queue sorted twice?
N make the calendar start on monday
N translate the consent page into Welsh
N remove the unused sound files
N show the room number beside the doctor
N what does the retry wrapper do when the server is down?
N draw the flow of a referral
N add a filter for the age group
N move the print styles to their own sheet
N is the cache of photos ever cleared?
N the search forgets its filter after reload
N collapse the two warning banners into one
T hmm that looks better
T yes, do that
T why two files?
T no the left one
T I only see three of the rooms
T great, commit it
T don't worry about the styling for now
