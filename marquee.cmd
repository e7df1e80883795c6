@echo off
rem Marquee on the Bun that `npm ci` brings, from wherever it is called.
set "MARQUEE_BUN=%~dp0node_modules\@oven\bun-windows-x64\bin\bun.exe"
if not exist "%MARQUEE_BUN%" echo No Bun for this machine is in "%~dp0node_modules": run `npm ci` in "%~dp0" 1>&2 & exit /b 1
"%MARQUEE_BUN%" "%~dp0src\main.ts" %*
