repo garten
E ./gen pflanzplan | lese Beete / Bodenkarte 'lehm-3' ist beschädigt / Abbruch nach 4 s | ./gen karten --neu lehm-3
? erzeuge bitte den Pflanzplan
> gen pflanzplan: Bodenkarte 'lehm-3' ist beschädigt
> die Bodenkarte lehm-3 ist schon wieder beschädigt
> Abbruch beim Pflanzplan wegen der Bodenkarte
E python3 wetter.py --woche | hole Stationen / ssl.SSLError: certificate verify failed: station-7.local / keine Daten | sudo update-ca-certificates --fresh
? hol das Wetter der Woche
> wetter.py: certificate verify failed station-7.local
> SSLError bei station-7.local
> das Zertifikat der Station wird wieder nicht akzeptiert, certificate verify failed
E cargo run -p sensor -- probe | probing 12 sensors / thread 'main' panicked: serial port /dev/ttyUSB3 is busy / exit 101 | sudo fuser -k /dev/ttyUSB3
? prüf die Sensoren
> sensor probe panicked: serial port /dev/ttyUSB3 is busy
> /dev/ttyUSB3 ist busy beim Probe-Lauf
> der serial port ist belegt, ttyUSB3
R leg eine Beispielbestellung an | Beispielkunden sind erfunden, echte Namen haben da nichts zu suchen | keine echten Kunden in den Beispielen, die Namen kommen aus namen.csv
> leg noch zwei Beispielkunden an
> die Demo braucht einen Beispielkunden mit zwei Adressen
> mehr Beispielkunden für die Liste
R schreib den Kommentar zur Funktion aussaat | Kommentare schreiben wir auf Englisch | Kommentare bitte immer auf Englisch, nicht auf Deutsch
> ergänze Kommentare im Modul ernte
> schreib einen Kommentar zur Formel
> da fehlen Kommentare in beet.py
R füge den Preis pro Pflanze ein | Preise stehen netto in der Datenbank, brutto nur auf der Rechnung | Preise: netto speichern, erst die Rechnung ist brutto
> speichere den Preis der neuen Sorte
> zeig den Preis im Katalog
> rechne den Preis der Lieferung aus
R documenta el riego | las medidas van en litros en todas las pantallas | litros, siempre litros en las medidas
> muestra las medidas del tanque
> añade las medidas de riego por semana
> corrige las medidas en el informe
R añade una prueba del pedido | en este proyecto las pruebas no usan la red | las pruebas van sin red, los datos están en datos/
> escribe pruebas para el cliente del tiempo
> añade una prueba de la descarga
> faltan pruebas del sensor
C drucke die Etiketten für morgen | Etiketten für morgen drucken | ./gen etiketten --datum morgen --format a6
> druck bitte die Etiketten für morgen
> ich brauche die Etiketten
> Etiketten noch einmal drucken
C genera el informe de cosecha | informe de la cosecha, por favor | python3 informes/cosecha.py --pdf
> haz otra vez el informe de cosecha
> necesito el informe de la cosecha
> genera el informe
C spiel die Sicherung ein | Sicherung von gestern einspielen | ./gen sicherung laden --letzte | bash: restore: command not found | restore letzte
> spiel die letzte Sicherung ein
> bitte die Sicherung laden
> Sicherung einspielen
N benenne die Komponente Kopfzeile um
N warum flackert die Karte beim Laden?
N mach das Logo auf dem Handy größer
N erklär mir, wie die Farben der Beete entstehen
N sortiere die Liste nach Ort
N entferne die alten Bilder
N ordena la lista por fecha
N ¿por qué se abre dos veces el menú?
N cambia el color del botón
N explica cómo se elige el turno
N übersetze die leere Seite ins Dänische
N was passiert, wenn der Server weg ist?
N verschieb die Einstellungen in eine eigene Datei
N añade un filtro por zona
T ja genau
T nein, die andere Tabelle
T danke, weiter
T hm, sieht komisch aus
T vale, sigue
