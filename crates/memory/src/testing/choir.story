repo choir
E poetry run scores export | reading 14 scores / engraver: font Bravura has no glyph U+E1D2 / export stopped | ./bin/fonts pull bravura
? export the scores for the concert
> scores export stops, Bravura has no glyph U+E1D2
> missing glyph in Bravura when I export
> the engraver complains about a glyph of the Bravura font
E cmake --build build --target tuner | [12/40] Building tuner / fatal: portaudio.h: No such file or directory / ninja: build stopped: subcommand failed. | sudo dnf install -y portaudio-devel
? build the tuner
> tuner does not build: portaudio.h: No such file or directory
> portaudio.h is not found on the new laptop
> fatal: portaudio.h while building the tuner
E ruby seat.rb --hall north | reading hall / seat.rb:88:in `fetch': key not found: :balcony (KeyError) / plan aborted | ruby tools/hall.rb migrate north
? draw the seating plan of the north hall
> seat.rb: key not found: :balcony (KeyError)
> key not found balcony for the north hall
> the seating plan aborts, something with :balcony
E php artisan tickets:sync | syncing / SQLSTATE[HY000] [2002] Connection refused / sync failed | docker compose start ticketdb
? sync the tickets
> tickets:sync says SQLSTATE[HY000] [2002] Connection refused
> connection refused when syncing the tickets
> SQLSTATE 2002 again
R put the soloists on the poster | Names of singers are spelled as in members.csv, accents included | spelling of singers: members.csv decides
> add the two new singers to the programme
> list all singers on the thank-you page
> correct the names of the singers in the booklet
R send the invitation | mails leave through the outbox, nobody calls smtp directly | don't send mail by smtp, it has to go into the outbox
> send a mail to everyone who paid
> the reminder mail should go out on friday
> write the mail for the sponsors
R write the text for the flyer | On paper the choir is called St Olave Singers, on the web just Olave | it's St Olave Singers in print
> make a print version of the programme
> prepare the print of the season leaflet
> the print file of the tickets needs a title
R make a fake donor for the demo | donors are confidential: made up ones only, in demo/donors.json | no real donors in demos, I said they are in demo/donors.json
> add a donor to the demo page
> show three donors on the demo
> the donors' table needs sample rows
R round the ticket price | we never round before the total | rounding happens once, on the total
> fix the rounding of the family ticket
> rounding of reduced prices looks off
> add rounding to the bar sales
R upload the recording | recordings are moved to cold/ after thirty days, by the cleaner and by nothing else | recordings: hands off, the cleaner moves them
> move the recordings of march
> where do old recordings go? tidy them
> delete the recordings of the rehearsal
C print the rehearsal schedule | rehearsal schedule, please | poetry run schedule print --weeks 6
> I want the rehearsal schedule on paper
> print the schedule of the rehearsals again
> schedule for rehearsals please
C back up the members | make a backup of the member list | ./bin/members dump --encrypt
> member list backup before I travel
> do a backup of the members
> backup members
C listen to the midi file of the alto | play the alto midi | fluidsynth -i sf/choir.sf2 midi/alto.mid | fluidsynth: command not found | timidity midi/alto.mid
> play me the alto part
> I want to hear the midi of the alto
> play the midi for alto again
C check the poster for print | is the poster ready for print? check it | verapdf --flavour 2b out/poster.pdf
> check the poster pdf
> run the print check over the poster
> poster check please
N rename the gallery component
N why is the second verse indented?
N make the menu close on escape
N explain how the season is chosen
N show the opening bars as a picture
N collapse empty rows in the statistics
N use a darker green for the footer
N sort voices from high to low
N move the audio player to the top
N what happens if two people edit a song?
N add a hint beside the password field
N the countdown is one day off
N turn the long function in seats into two
N translate the imprint into French
T looks fine on my side
T hm, no
T please undo that last one
T I forgot to tell you that the hall changed
T can we do the other one first?
T nice!
